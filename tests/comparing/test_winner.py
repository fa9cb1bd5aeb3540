"""The winner of a comparison, trained as it was compared."""

from dataclasses import replace

import numpy as np
import pytest
from rivals import QUICK, signal_table
from sklearn.linear_model import LogisticRegression
from synthetic import SETTING, fill

import oddkout as oko
from oddkout.comparing.winner import fit_winner, winning_config


def test_the_winner_needs_folds_and_its_own_data(tmp_path):
    (tmp_path / "other.csv").write_text("x,y\n1,2\n")
    store, comparison = fill(tmp_path / "runs", methods=["vanilla", "oko"], seeds=1)
    with pytest.raises(
        ValueError, match=r"a comparison on digits, but .*other.csv holds different data"
    ):
        winning_config(tmp_path / "runs", source=tmp_path / "other.csv")
    for run in comparison.runs:
        store.forget(run)
        run.fold_metrics = {}
        store.write(run)
    with pytest.raises(ValueError, match="has no winner: it has no folds"):
        winning_config(tmp_path / "runs", source="digits")


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
    comparison = compared(tmp_path)
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
