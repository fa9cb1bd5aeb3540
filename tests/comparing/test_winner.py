"""The winner of a comparison, trained as it was compared."""

from dataclasses import replace

import numpy as np
import pytest
from rivals import QUICK, signal_table
from sklearn.linear_model import LogisticRegression
from synthetic import SETTING, fill

import oddkout as oko
from oddkout.comparing.winner import compared_winner, fit_winner


def test_the_winner_needs_folds_and_its_own_data(tmp_path):
    (tmp_path / "other.csv").write_text("x,y\n1,2\n")
    store, comparison = fill(tmp_path / "runs", methods=["vanilla", "oko"], seeds=1)
    with pytest.raises(
        ValueError, match=r"a comparison on digits, but .*other.csv holds different data"
    ):
        compared_winner(tmp_path / "runs", source=tmp_path / "other.csv")
    for run in comparison.runs:
        store.forget(run)
        run.fold_metrics = {}
        store.write(run)
    with pytest.raises(ValueError, match="has no winner: it has no folds"):
        compared_winner(tmp_path / "runs", source="digits")


def test_another_target_than_the_one_that_was_compared_is_refused(tmp_path):
    fill(tmp_path, methods=["vanilla"], seeds=1, setting=replace(SETTING, target="diagnosis"))
    with pytest.raises(ValueError, match="for the target 'diagnosis', got 'ward'; leave the"):
        fit_winner(tmp_path, "digits", target="ward")


def compared(folder, **options):
    x, y = signal_table(rows=200)
    np.savez(folder / "own.npz", x=x, y=y)
    return oko.compare(
        folder / "own.npz",
        seeds=2,
        out=folder / "runs",
        **QUICK | {"methods": ["vanilla"]} | options,
    )


def test_a_winner_of_another_library_is_trained_saved_and_read_without_pickle(tmp_path):
    """With a seed of the comparison, it is exactly the classifier that was compared."""
    comparison = compared(tmp_path, costs=[[0, 2, 9, 1], [2, 0, 9, 1], [2, 2, 0, 1]])
    assert comparison.winner == "logistic"
    classifier = fit_winner(tmp_path / "runs", tmp_path / "own.npz", seed=1)
    run = comparison.by_method["logistic"][1]
    data = oko.load_data(tmp_path / "own.npz", seed=1)
    logits = classifier.predict_logits(data.x_test).numpy()
    np.testing.assert_allclose(
        logits - logits.max(axis=1, keepdims=True),
        run.calibrated_logits - run.calibrated_logits.max(axis=1, keepdims=True),
        atol=1e-5,
    )
    assert classifier.evaluation["nll"].value == pytest.approx(run.value("nll", is_tempered=True))
    won = classifier.details["won"]
    assert won["by"] == "lowest out-of-fold cost, mean of 2 seeds"
    paid = [one.fold_metrics["cost"] for one in comparison.by_method["logistic"]]
    assert won["value"] == pytest.approx(np.mean(paid))
    decisions = classifier.details["decisions"]
    cost, low, high = decisions["costs"]["test"]["cheapest answers"]
    assert low <= cost <= high
    assert cost == pytest.approx(run.value("cost", is_tempered=True))
    covered = run.value("set_coverage", is_tempered=True)
    assert decisions["sets"]["test"]["coverage"] == pytest.approx(covered)
    assert decisions["sets"]["guarantee"] == run.promises["sets"]["guarantee"]
    again = oko.Classifier.load(classifier.save(tmp_path / "model"))
    np.testing.assert_array_equal(
        again.predict_proba(data.x_test), classifier.predict_proba(data.x_test)
    )
    assert "nothing is guaranteed" in again.decide(data.x_test, coverage=0.8).guarantee
    with pytest.raises(ValueError, match="logistic is a classifier of another library"):
        oko.export(again, tmp_path / "model.onnx")
    (tmp_path / "model" / "model.skops").write_bytes(b"broken")
    with pytest.raises(ValueError, match="does not hold a classifier that can be trusted"):
        oko.Classifier.load(tmp_path / "model")


def test_a_winner_of_the_user_is_refused_with_advice(tmp_path):
    comparison = compared(tmp_path, contestants={"mine": LogisticRegression(C=0.3)})
    assert comparison.winner == "mine"
    with pytest.raises(ValueError, match=r"it is your own classifier, .* --method vanilla"):
        fit_winner(tmp_path / "runs", tmp_path / "own.npz")
