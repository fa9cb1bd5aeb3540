"""Any classifier can take part: same splits, folds and calibration; what fails is shown."""

import numpy as np
import pytest
import skops.io
import torch
from grids import here
from rivals import Constant, Plain
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import oddkout as oko
from oddkout.comparing.contestants import (
    OUTSIDERS,
    Guess,
    checked_contestants,
    description,
    made,
)
from oddkout.comparing.outsiders import fit_outsider
from oddkout.comparing.winner import fit_winner
from oddkout.fitting.folds import assigned_folds, scored_folds
from oddkout.fitting.preparation import prepared
from oddkout.models.foreign import (
    LEAST,
    ForeignModel,
    load_foreign,
    log_probabilities,
    save_foreign,
)
from oddkout.prior import PriorLedger
from oddkout.report.headline import headline

QUICK = {"learning_rates": [0.1], "folds": 2, "recipe": {"updates": 10}, "executor": here}


def table(*, rows=120, signal=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(3, size=rows, p=[0.5, 0.3, 0.2])
    return rng.normal(size=(rows, 4)) + signal * np.eye(3, 4)[y], y


def fitted(estimator, **options):
    data = prepared(oko.load_data(table(), seed=0))
    defaults = {
        "name": "mine", "folds": 3, "calibration": "folds", "population": "train", "seed": 0,
    }  # fmt: skip
    return data, fit_outsider(data, estimator=estimator, **defaults | options)


def test_guess_predicts_the_class_frequencies():
    guess = Guess().fit(np.zeros((4, 1)), np.array([0, 2, 2, 2]))
    assert guess.classes_.tolist() == [0, 2]
    np.testing.assert_allclose(guess.predict_proba(np.zeros((2, 1))), [[0.25, 0.75]] * 2)


def test_an_outsider_gets_our_folds_and_our_calibration():
    data, result = fitted(GaussianNB())
    folds = assigned_folds(data.y, folds=3, seed=0)
    x, y = data.x.double().numpy(), data.y.numpy()
    logits = torch.zeros(len(y), 3)
    for fold in range(3):
        held = (folds == fold).numpy()
        model = clone(GaussianNB()).fit(x[~held], y[~held])
        logits[held] = torch.from_numpy(
            np.log(np.maximum(model.predict_proba(x[held]), LEAST))
        ).float()
    prior = tuple(np.bincount(y) / len(y))
    ledger = PriorLedger(assumed=prior, stated=prior, train=prior)
    expected = scored_folds(
        logits, data.y, folds, ledger=ledger, calibration="folds", is_balanced=False
    )
    assert result.scores.metrics["nll"] == pytest.approx(expected.metrics["nll"], rel=1e-4)
    assert result.calibrated.temperature == pytest.approx(expected.ledger.temperature, rel=1e-3)


def test_on_benchmarks_outsiders_are_judged_for_equal_classes_too():
    _, result = fitted(GaussianNB(), population="uniform")
    assert result.calibrated.stated == (1 / 3,) * 3
    assert result.ledger.stated == result.ledger.train, "as trained, nothing is corrected"


def test_classes_that_a_classifier_has_not_seen_and_zeros_get_a_floor():
    model = Constant(row=[1.0, 0.0]).fit(np.zeros((3, 1)), np.array([0, 2, 2]))
    logits = log_probabilities(model, np.zeros((2, 1)), classes=3)
    np.testing.assert_allclose(logits.exp(), [[1, LEAST, LEAST]] * 2, rtol=1e-5)


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ([0.5, 0.4, 0.3], "must sum to 1, got a row with sum 1.2"),
        ([0.5, np.nan, 0.5], "negative or not finite"),
        ([1.5, -0.5, 0.0], "negative or not finite"),
        ([0.5, 0.5], r"of 3 classes, got shape \(\d+, 2\)"),
    ],
)
def test_what_is_not_a_probability_is_refused(row, text):
    with pytest.raises(ValueError, match=text):
        fitted(Constant(row=row))


@pytest.mark.filterwarnings("ignore")
def test_all_take_part_and_what_fails_is_shown_with_its_reason(tmp_path):
    rivals = {
        "bayes": GaussianNB(),
        "plain": Plain(),
        "broken": Constant(error="no license"),
        "wrong": Constant(row=[0.9, 0.9, 0.9]),
        "slow": Constant(seconds=60.0),
        "maker": Plain,
    }
    comparison = oko.compare(
        table(), methods=["vanilla"], contestants=rivals, seeds=1, out=tmp_path, time_limit=2,
        **QUICK,
    )  # fmt: skip
    assert comparison.methods == ["guess", "logistic", "vanilla", "bayes", "plain", "maker"]
    assert comparison.failed["broken"].startswith("RuntimeError: no license")
    assert (
        comparison.failed["wrong"]
        == "each row of predict_proba must sum to 1, got a row with sum 2.7"
    )
    assert comparison.failed["slow"] == "it took longer than the limit of 2 seconds"
    text = str(comparison.table)
    assert text.index("\nguess ") < text.index("\nlogistic ") < text.index("\nvanilla ")
    assert "slow        failed: it took longer" in text
    again = oko.compare(
        table(), methods=["vanilla"], contestants=rivals, seeds=1, out=tmp_path, **QUICK
    )
    assert again.table.rows == comparison.table.rows


def test_named_contestants_and_those_of_a_module():
    assert list(checked_contestants(["forest", "rivals:uniform"])) == [
        "guess", "logistic", "forest", "rivals:uniform",
    ]  # fmt: skip
    assert isinstance(made("rivals:uniform", None, seed=0), Constant)
    with pytest.raises(ValueError, match=r"must name a function as package.module:function, but"):
        made("rivals:nothing", None, seed=0)


@pytest.mark.filterwarnings("ignore")  # of convergence
@pytest.mark.parametrize("name", ["logistic", "forest", "boosting", "svm", "mlp"])
def test_built_in_contestants_learn(name):
    x, y = table()
    model = made(name, None, seed=0).fit(x, y)
    assert (model.predict_proba(x).argmax(axis=1) == y).mean() > 0.7
    assert OUTSIDERS[name].summary.endswith(".")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "catboost", None)
    with pytest.raises(
        ValueError, match=r"catboost needs the package catboost .* run: pip install catboost"
    ):
        made("catboost", None, seed=0)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"oko": GaussianNB()}, "a contestant needs a name of its own, got 'oko'"),
        ({"guess": GaussianNB()}, "a contestant needs a name of its own, got 'guess'"),
        ({"mine": 3}, "must have fit and predict_proba, or be a function"),
        (["forrest"], "contestant must be one of"),
    ],
)
def test_what_cannot_take_part_is_refused(given, text):
    with pytest.raises(ValueError, match=text):
        checked_contestants(given)


def test_a_copy_gets_the_seed_unless_it_has_one():
    assert made("mine", LogisticRegression(), seed=7).random_state == 7
    assert made("mine", LogisticRegression(random_state=3), seed=7).random_state == 3
    own = GaussianNB()
    assert made("mine", own, seed=7) is not own


def test_descriptions_tell_settings_apart():
    assert description(LogisticRegression(C=2.0)) != description(LogisticRegression(C=3.0))
    assert description(Plain) == "rivals.Plain"


def test_pure_noise_is_called_guessing(tmp_path):
    x, y = table(signal=0.0)
    comparison = oko.compare(
        (x, y), methods=["vanilla+ls"], contestants={"bayes": GaussianNB()}, seeds=3, out=tmp_path,
        **QUICK,
    )  # fmt: skip
    assert comparison.verdict.startswith("Nothing beats guessing: no contestant predicts better")
    assert "With 24 test examples, an NLL lower by less than about" in comparison.verdict
    assert headline(comparison) == "Nothing beats guessing the class frequencies"


def test_the_verdict_names_logistic_regression_if_nothing_beats_it(tmp_path):
    comparison = oko.compare(
        table(rows=300), methods=["vanilla+ls"], contestants={"bayes": GaussianNB()}, seeds=3,
        out=tmp_path, **QUICK,
    )  # fmt: skip
    assert "Nothing beats logistic regression significantly in NLL." in comparison.verdict
    assert "is the cheaper to train." in comparison.verdict


def compared(folder, **options):
    x, y = table(rows=200)
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
    with pytest.raises(ValueError, match="logistic is a classifier of another library"):
        oko.export(again, tmp_path / "model.onnx")
    (tmp_path / "model" / "model.skops").write_bytes(b"broken")
    with pytest.raises(ValueError, match="does not hold a classifier that can be trusted"):
        oko.Classifier.load(tmp_path / "model")


def test_guessing_can_be_saved_too(tmp_path):
    model = ForeignModel(Guess().fit(np.zeros((3, 1)), np.array([0, 1, 1])), classes=2)
    save_foreign(model, tmp_path / "model.skops")
    read = load_foreign(tmp_path / "model.skops", classes=2)
    assert read(torch.zeros(1, 1)).exp()[0].tolist() == pytest.approx([1 / 3, 2 / 3])


def test_a_file_that_names_code_is_refused(tmp_path):
    """A classifier of a type that skops does not know is neither written nor read."""
    fitted = Constant().fit(np.zeros((3, 1)), np.array([0, 1, 1]))
    with pytest.raises(ValueError, match=r"could run code when it is read, \[rivals.Constant\]"):
        save_foreign(ForeignModel(fitted, classes=2), tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())
    skops.io.dump(fitted, tmp_path / "planted.skops")
    with pytest.raises(ValueError, match="does not hold a classifier that can be trusted"):
        load_foreign(tmp_path / "planted.skops", classes=2)


def test_a_winner_of_the_user_is_refused_with_advice(tmp_path):
    comparison = compared(tmp_path, contestants={"mine": LogisticRegression(C=0.3)})
    assert comparison.winner == "mine"
    with pytest.raises(ValueError, match=r"it is your own classifier, .* --method vanilla"):
        fit_winner(tmp_path / "runs", tmp_path / "own.npz")
