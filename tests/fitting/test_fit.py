"""``oko.fit``: every kind of source, prior, choice of learning rate, and bad input."""

import numpy as np
import pandas as pd
import pytest

from oddkout import Data, fit, load_data
from oddkout.fitting.methods import METHODS
from oddkout.fitting.recipe import Recipe, suited_to

QUICK = {"learning_rates": [0.1], "folds": 2}


def patients(rows=300, seed=0):
    """Three classes 86 : 10 : 4, missing values, text categories."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, rows, p=[0.86, 0.10, 0.04])
    frame = pd.DataFrame({"dose": rng.normal(size=rows) + kind, "age": rng.normal(size=rows)})
    frame.loc[rng.random(rows) < 0.1, "dose"] = np.nan
    frame["ward"] = np.where(rng.random(rows) < 0.3 + 0.3 * kind, "icu", "general")
    frame.loc[rng.random(rows) < 0.05, "ward"] = None
    frame["kind"] = np.array(["healthy", "flu", "sepsis"])[kind]
    return frame


def test_every_kind_of_source_gives_the_same_classifier(tmp_path):
    frame = patients()
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    features = frame.drop(columns="kind")
    options = {"recipe": {"updates": 20}, **QUICK}
    sources = [
        (tmp_path / "a.csv", {"target": "kind"}),
        (str(tmp_path / "a.parquet"), {"target": "kind"}),
        (frame, {"target": "kind"}),
        ((features, frame["kind"]), {}),
        (load_data(tmp_path / "a.csv", target="kind"), {}),
    ]
    classifiers = [fit(source, **reading, **options) for source, reading in sources]
    expected = classifiers[0].predict_proba(features)
    for classifier in classifiers[1:]:
        np.testing.assert_array_equal(classifier.predict_proba(features), expected)
        assert classifier.evaluation["nll"] == classifiers[0].evaluation["nll"]


def test_without_a_test_part_everything_is_trained_on():
    x, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    classifier = fit((x, y), test_size=0, recipe={"updates": 3}, **QUICK)
    assert classifier.details["data"]["examples"] == 40
    assert classifier.evaluation is None
    assert set(classifier.details["folds"]) == {"nll", "accuracy"}


@pytest.mark.parametrize("method", ["vanilla", "bb", "weighted", "pair", "oko"])
def test_own_data_are_predicted_for_the_training_frequencies(method):
    """Balanced methods assume equal frequencies; the ledger converts their logits."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), np.repeat([0, 1], [45, 15])
    data = Data(name="d", x_train=x, y_train=y, x_test=x, y_test=y, classes=("a", "b"))
    classifier = fit(data, method=method, recipe={"updates": 3}, **QUICK)
    assert classifier.prior == (0.75, 0.25)
    assumed = (0.75, 0.25) if METHODS[method].balance.kind == "none" else (0.5, 0.5)
    assert classifier.mixture.views[0].ledger.assumed == assumed
    assert classifier.details["prior"].endswith("class frequencies of the training data")


def test_known_benchmark_data_are_judged_as_in_the_paper():
    classifier = fit(
        "digits",
        distribution="heavy-tailed",
        train_examples=200,
        recipe={"updates": 3},
        **QUICK,
    )
    assert classifier.prior == (0.1,) * 10
    assert classifier.details["prior"].endswith("uniform, as in the paper")
    subset = {"distribution": "heavy-tailed", "train_examples": 200}
    loaded = fit(load_data("digits", **subset), recipe={"updates": 3}, **QUICK)
    assert loaded.prior == classifier.prior, "loaded or by name"
    plain = {
        calibrate: fit(
            "digits",
            method="vanilla",
            calibrate=calibrate,
            recipe={"updates": 3},
            **QUICK,
            **subset,
        )
        for calibrate in ("folds", "none")
    }
    assert plain["folds"].prior == classifier.prior, "calibration corrects every method"
    assert max(plain["none"].prior) > 0.2, "the paper corrects no method"
    assert "uncorrected, as in the paper" in plain["none"].details["prior"]


def test_the_learning_rate_is_chosen_out_of_fold():
    """A rate that is far too small loses, in any order of the candidates."""
    x = np.random.default_rng(0).normal(size=(90, 2))
    y = (x[:, 0] > 0).astype(int)
    for rates in ([1e-6, 0.2], [0.2, 1e-6]):
        classifier = fit((x, y), recipe={"updates": 60}, learning_rates=rates, folds=2)
        assert classifier.details["settings"]["learning_rate"] == 0.2
    assert classifier.temperature != 1
    plain = fit((x, y), recipe={"updates": 60}, learning_rates=rates, folds=2, calibrate="none")
    assert plain.temperature == 1
    np.testing.assert_array_equal(plain.predict_proba(x).argmax(1), (
        classifier.predict_proba(x).argmax(1)
    ))  # fmt: skip


@pytest.mark.parametrize(("method", "own"), [("bb+ts", 2.0), ("bb", 1.0)])
def test_without_calibration_a_method_keeps_its_own_temperature(method, own):
    x, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    assert (
        fit((x, y), method=method, calibrate="none", recipe={"updates": 3}, **QUICK).temperature
        == own
    )


def test_the_recipe_suits_the_number_of_examples_unless_it_is_changed():
    data = load_data("digits")
    suited = suited_to(data.class_sizes)
    assert suited["updates"] == 1689
    settings = fit("digits", recipe={"updates": 3}, **QUICK).details["settings"]
    assert settings["updates"] == 3
    assert settings["weight_decay"] == suited["weight_decay"] < Recipe.weight_decay / 10


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": "okko"}, "method must be one of 'vanilla'"),
        ({"method": "vanilla", "k": 2}, "vanilla draws no sets, got k=2"),
        ({"recipe": {"update": 3}}, "a recipe has no field 'update'; did you mean 'updates'?"),
        ({"folds": -1}, "folds must be at least 0, got -1"),
        ({"folds": 0, "learning_rates": [0.1, 0.2]}, r"choosing among 2 recipes.*needs folds"),
        ({"learning_rates": []}, "learning_rates must hold at least one rate, got none"),
        ({"learning_rates": [0]}, "learning_rate must be above 0, got 0"),
        ({"k": 3}, r"oko with k=3 needs at least 4 classes, got 3 class\(es\).*; lower k"),
        ({"distribution": "uniform"}, "train_examples is the size of a subset"),
        ({"test_size": 1.5}, "test_size must be a share from 0 to below 1, got 1.5"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
    ],
)
def test_what_makes_no_sense_is_refused(options, text):
    with pytest.raises(ValueError, match=text):
        fit(patients(), target="kind", **QUICK | options)
