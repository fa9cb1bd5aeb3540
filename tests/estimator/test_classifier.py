"""The scikit-learn estimator: its contract, its prior, its calibration, and what it refuses."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from torch import nn

import oddkout as oko
from oddkout.estimator.inputs import Inputs

IRIS = load_iris(return_X_y=True)


def quick(**changes):
    return oko.OddKOutClassifier(**{"max_updates": 50, "random_state": 0} | changes)


def imbalanced(examples=2000, seed=0):
    """Two overlapping normal classes, 9 : 1, whose posterior is known in closed form."""
    generator = np.random.default_rng(seed)
    y = (generator.random(examples) < 0.1).astype(int)
    return generator.normal(size=(examples, 1)) + 2 * y[:, None], y


def true_posterior(x, prior):
    """Of class 1 for means 0 and 2, deviation 1: the log-likelihood ratio is 2 x - 2."""
    return 1 / (1 + np.exp(-(2 * x[:, 0] - 2)) * (1 - prior) / prior)


def test_scikit_learns_own_checks_all_pass():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some checks cast NaN on purpose, one needs a variable set
        results = check_estimator(oko.OddKOutClassifier(max_updates=30), on_fail=None)
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}, "that one runs only with SCIPY_ARRAY_API=1"
    assert len(results) > 50


def test_importing_the_package_imports_no_scikit_learn_until_it_is_asked_for():
    program = (
        "import sys, oddkout; before = 'sklearn' in sys.modules; oddkout.OddKOutClassifier\n"
        "print(before, 'sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "True"], done.stderr
    with pytest.raises(AttributeError, match="no attribute 'OddKOut'"):
        oko.OddKOut  # noqa: B018


def test_it_works_where_scikit_learn_puts_estimators():
    x, y = IRIS
    pipeline = make_pipeline(StandardScaler(), quick()).set_output(transform="pandas")
    search = GridSearchCV(
        pipeline, {"oddkoutclassifier__k": [1, 2]}, cv=2, n_jobs=2, scoring="neg_log_loss"
    ).fit(x, y)
    assert search.best_score_ > -0.5, "chance is -1.1"
    assert search.best_estimator_[-1].feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]
    calibrated = CalibratedClassifierCV(quick(), cv=2, method="sigmoid").fit(x, y)
    assert calibrated.score(x, y) > 0.85
    probs = cross_val_predict(quick(), x, y, cv=3, method="predict_proba")
    assert log_loss(y, probs) < 0.3


@pytest.mark.parametrize("names", [["no", "yes"], ["a", "b", "c"]])
def test_labels_of_any_kind_give_the_same_model(names):
    x, y = IRIS
    x, y = x[y < len(names)], y[y < len(names)]
    by_name, by_number = quick().fit(x, np.array(names)[y]), quick().fit(x, y)
    assert by_name.classes_.tolist() == names
    np.testing.assert_array_equal(by_name.predict_proba(x), by_number.predict_proba(x))
    np.testing.assert_array_equal(by_name.predict(x), np.array(names)[by_number.predict(x)])
    assert by_name.predict_proba(x).dtype == np.float64


def test_scores_agree_with_probabilities():
    x, y = IRIS
    several = quick().fit(x, y)
    np.testing.assert_allclose(np.exp(several.decision_function(x)), several.predict_proba(x))
    two = quick().fit(x[:100], y[:100])
    odds = two.predict_proba(x)[:, 1] / two.predict_proba(x)[:, 0]
    np.testing.assert_allclose(two.decision_function(x), np.log(odds), atol=1e-9)


@pytest.mark.parametrize("state", [3, "RandomState"])
def test_copies_and_pickles_predict_the_same(state):
    x, y = IRIS

    def fitted(base):
        random = np.random.RandomState(3) if state == "RandomState" else state
        return base.set_params(random_state=random).fit(x, y)

    first, again = fitted(quick()), fitted(clone(quick()))
    thawed = pickle.loads(pickle.dumps(first))
    for other in (again, thawed):
        np.testing.assert_array_equal(first.predict_proba(x), other.predict_proba(x))
    assert not np.array_equal(
        first.predict_proba(x), quick(random_state=4).fit(x, y).predict_proba(x)
    )


def test_global_randomness_is_neither_used_nor_touched():
    x, y = IRIS
    before = torch.random.get_rng_state()
    quick(module=lambda classes: nn.Linear(4, classes)).fit(x, y)
    assert torch.equal(before, torch.random.get_rng_state())


def test_units_of_columns_do_not_matter():
    x, y = load_breast_cancer(return_X_y=True)
    scales = np.logspace(-8, 40, x.shape[1])
    plain, scaled = quick().fit(x, y), quick().fit(x * scales + 5 * scales, y)
    np.testing.assert_allclose(
        plain.predict_proba(x), scaled.predict_proba(x * scales + 5 * scales), atol=1e-6
    )


@pytest.mark.parametrize("method", ["bb", "vanilla"])  # both tend to the posterior of their prior
def test_probabilities_are_for_the_prior_that_was_asked_for(method):
    x, y = imbalanced()
    usual = np.linspace(-1, 3, 50)[:, None]
    shares = {"train": y.mean(), "uniform": 0.5, (0.02, 0.98): 0.98}
    truth = np.array([true_posterior(usual, share) for share in shares.values()])
    for number, prior in enumerate(shares):
        model = quick(max_updates=150, method=method, prior=prior).fit(x, y)
        off = np.abs(model.predict_proba(usual)[:, 1] - truth).mean(axis=1)
        assert off.argmin() == number


def test_priors_differ_by_bayes_rule_exactly():
    x, y = imbalanced(300)
    share = np.array([1 - y.mean(), y.mean()])
    train, uniform = (quick(prior=p).fit(x, y).predict_proba(x) for p in ("train", "uniform"))
    expected = uniform * share
    np.testing.assert_allclose(train, expected / expected.sum(axis=1, keepdims=True), rtol=1e-9)


def test_a_temperature_never_makes_the_likelihood_of_held_out_examples_worse():
    x, y = imbalanced(2000)
    y = np.where(np.random.default_rng(1).random(len(y)) < 0.2, 1 - y, y)  # overconfident if copied
    for calibrate in ("validation", "folds"):
        scaled = quick(calibrate=calibrate).fit(x, y)
        plain = quick(calibrate=False).fit(x, y)
        assert scaled.calibrator_[2].temperature != 1 == plain.calibrator_[2].temperature
        np.testing.assert_array_equal(scaled.predict(x), plain.predict(x))
        assert log_loss(y, scaled.predict_proba(x)) < log_loss(y, plain.predict_proba(x)) + 0.02


def test_early_stopping_needs_enough_examples_and_says_so():
    x, y = imbalanced(2000)
    stopped = quick(max_updates=100).fit(x, y)
    assert stopped.notes_ == ()
    assert [row["update"] for row in stopped.log_] == [50, 100]
    assert all("validation_nll" in row for row in stopped.log_)
    few = quick().fit(x[:200], y[:200])
    assert "no examples were held out: early stopping needs 100" in few.notes_[0]
    assert "validation_nll" not in few.log_[0]


def test_the_state_is_judged_by_the_prior_of_the_data():
    x, y = imbalanced(4000)
    rows = quick(method="bb", max_updates=200, validation_fraction=0.5).fit(x, y).log_
    best = -np.mean(np.log(np.where(y == 1, p := true_posterior(x, 0.1), 1 - p)))
    assert min(row["validation_nll"] for row in rows) == pytest.approx(best, abs=0.03)


def test_a_class_of_one_example_is_learned_and_noted():
    x, y = make_blobs([30, 30, 1], random_state=0, cluster_std=0.3)
    model = quick(calibrate="folds").fit(x, y)
    assert model.predict(x[y == 2]) == [2]
    assert "classes [2] have a single example" in model.notes_[-1]


def test_images_of_every_layout_are_taken():
    digits = load_digits()
    images, y = digits.images[:300], digits.target[:300]
    assert quick(max_updates=150).fit(images, y).score(images, y) > 0.9
    coloured = np.repeat(images[..., None], 3, axis=3).astype(np.uint8)
    last = quick().fit(coloured, y)
    first = quick().fit(np.moveaxis(coloured, 3, 1), y)
    np.testing.assert_array_equal(
        last.predict_proba(coloured), first.predict_proba(np.moveaxis(coloured, 3, 1))
    )
    large = np.kron(images[:60], np.ones((2, 2)))
    assert isinstance(quick(max_updates=3).fit(large, y[:60]).module_[0], nn.Conv2d)
    with pytest.raises(ValueError, match=r"shape of the training data, \(8, 8\), got \(8, 7\)"):
        quick(max_updates=1).fit(images, y).predict(images[:, :, :7])


def test_inputs_are_standardised_by_column_or_channel():
    generator = np.random.default_rng(0)
    table = generator.normal(5, 3, size=(50, 4))
    parts = Inputs(is_double=True).learn(table[:20]).learn(table[20:])
    expected = (table - table.mean(axis=0)) / table.std(axis=0)
    np.testing.assert_allclose(parts.tensor(table), expected, rtol=1e-9, err_msg="in two parts")
    images = generator.normal(size=(20, 3, 5, 6)) * np.array([1, 10, 100])[:, None, None]
    tensor = Inputs(is_double=True).learn(images).tensor(images)
    assert tensor.dtype == torch.float32
    np.testing.assert_allclose(tensor.std(dim=(0, 2, 3), correction=0), [1, 1, 1], rtol=1e-4)


def test_text_columns_of_a_frame_are_encoded():
    colour = np.array(["red", "green", "blue"] * 20)
    frame = pd.DataFrame({"noise": np.random.default_rng(0).normal(size=60), "colour": colour})
    model = quick().fit(frame, colour)
    assert model.score(frame, colour) == 1
    assert model.n_features_in_ == 2
    unseen = pd.DataFrame({"noise": [0.0], "colour": ["violet"]})
    assert model.predict_proba(unseen).shape == (1, 3)
    with pytest.raises(ValueError, match=r"NaN.*\[colour\] do; fill them"):
        model.predict(pd.DataFrame({"noise": [0.0], "colour": [None]}, dtype=object))
    numbers = quick().fit(frame[["noise"]], colour)
    with pytest.raises(ValueError, match=r"columns must hold numbers as they did in training"):
        numbers.predict(pd.DataFrame({"noise": ["loud"]}))


def test_one_pass_after_the_other_learns_as_well_as_fit():
    x, y = IRIS
    order = np.random.default_rng(0).permutation(len(y))
    model = quick(method="oko")
    for _ in range(24):
        for part in np.array_split(order, 3):
            model.partial_fit(x[part], y[part], classes=[0, 1, 2])
    assert model.score(x, y) > 0.9
    assert model._counts.tolist() == [1200, 1200, 1200]
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        quick().partial_fit(x, y)
    with pytest.raises(ValueError, match=r"\[7\] are not among them; name all classes"):
        model.partial_fit(x, np.where(y == 0, 7, y))
    with pytest.raises(ValueError, match=r"needs at least 2 classes, got 1 class"):
        model.partial_fit(x[:9], y[:9])


def test_a_warm_start_goes_on_from_the_weights():
    x, y = IRIS
    model = quick(warm_start=True, max_updates=20).fit(x, y)
    before, network = log_loss(y, model.predict_proba(x)), model.module_
    assert log_loss(y, model.fit(x, y).predict_proba(x)) < before
    assert model.module_ is network
    assert len(model.log_) == 2
    assert quick(max_updates=20).fit(x, y).fit(x, y).module_ is not network
    with pytest.raises(ValueError, match=r"same classes, \[0, 1, 2\], got \[0, 1\]"):
        model.fit(x[:100], y[:100])


def test_a_network_of_ones_own_is_made_anew_for_every_fit():
    x, y = IRIS

    def network(shape, classes):
        return nn.Sequential(nn.Linear(shape[0], 8), nn.Tanh(), nn.Linear(8, classes))

    model = quick(module=network)
    first = model.fit(x, y).predict_proba(x)
    np.testing.assert_array_equal(first, model.fit(x, y).predict_proba(x))
    assert isinstance(model.module_[1], nn.Tanh)
    with pytest.raises(ValueError, match=r"function or class that makes one, got Linear"):
        quick(module=nn.Linear(4, 3)).fit(x, y)
    with pytest.raises(
        ValueError, match=r"logit for each of 3 classes, got logits of shape \(1, 5"
    ):
        quick(module=lambda: nn.Linear(4, 5)).fit(x, y)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"k": 3}, r"k=3 needs at least 4 classes, got 3 class.*lower k"),
        ({"k": 1, "method": "vanilla"}, "vanilla draws no sets, got k=1"),
        ({"method": "magic"}, "method must be one of 'vanilla'"),
        ({"method": "bb+ts-fit"}, "ask for method='bb' and calibrate="),
        ({"max_updates": 0}, "max_updates must be at least 1, got 0"),
        ({"validation_fraction": 1.0}, "validation_fraction must lie from 0 to below 1, got 1.0"),
        ({"calibrate": "often"}, "calibrate must be one of 'validation', 'folds'.*'often'"),
        ({"prior": "equal"}, "prior must be one of 'train', 'uniform', got 'equal'"),
        ({"prior": [0.5, 0.5]}, "same classes, got 2 and 3 frequencies"),
        ({"learning_rate": -1.0}, "learning_rate must be a positive number, got -1.0"),
        ({"module": "giant"}, "a model is one of auto"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes, text):
    with pytest.raises(ValueError, match=text):
        quick(**changes).fit(*IRIS)


def test_data_that_cannot_be_are_refused():
    x, y = IRIS
    with pytest.raises(ValueError, match="sets are drawn by class, whatever the weight"):
        quick().fit(x, y, sample_weight=np.ones(len(y)))
    with pytest.raises(ValueError, match="needs at least 2 classes, got 1 class"):
        quick().fit(x[:50], y[:50])
    with pytest.raises(ValueError, match="contains NaN"):
        quick().fit(np.where(x > 5, np.nan, x), y)
    with pytest.raises(NotFittedError):
        quick().predict(x)


def test_verbose_prints_notes_and_progress(capsys):
    quick(verbose=True).fit(*IRIS)
    printed = capsys.readouterr().out
    assert "early stopping needs" in printed
    assert "update 50  loss" in printed
    quick().fit(*IRIS)
    assert capsys.readouterr().out == ""
