"""The scikit-learn estimator: its contract, prior and calibration."""

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from estimators import IRIS, quick
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, make_blobs
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

import oddkout as oko


def imbalanced(examples=2000, seed=0):
    """Two overlapping normal classes, 9 : 1, whose posterior is known in closed form."""
    generator = np.random.default_rng(seed)
    y = (generator.random(examples) < 0.1).astype(int)
    return generator.normal(size=(examples, 1)) + 2 * y[:, None], y


def true_posterior(x, prior):
    """Posterior of class 1 for means 0 and 2, deviation 1: log-likelihood ratio 2 x - 2."""
    return 1 / (1 + np.exp(-(2 * x[:, 0] - 2)) * (1 - prior) / prior)


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
        pipeline, {"oddkoutclassifier__k": [1, 2]}, cv=2, scoring="neg_log_loss"
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


def test_a_temperature_never_makes_the_likelihood_much_worse():
    x, y = imbalanced(1000)
    y = np.where(np.random.default_rng(1).random(len(y)) < 0.2, 1 - y, y)  # overconfident if copied
    single = {"method": "oko", "members": "single"}
    scaled = quick(calibrate="temperature", **single).fit(x, y)
    plain = quick(calibrate="none", **single).fit(x, y)
    assert scaled.temperature_ != 1 == plain.temperature_
    assert log_loss(y, scaled.predict_proba(x)) < log_loss(y, plain.predict_proba(x)) + 0.02


def test_a_fit_can_be_saved_and_served_without_scikit_learn(tmp_path):
    x, y = IRIS
    model = quick().fit(x, y)
    again = oko.Classifier.load(model.classifier_.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))


def test_a_class_of_one_example_is_learned_and_noted():
    x, y = make_blobs([30, 30, 1], random_state=0, cluster_std=0.3)
    model = quick(max_updates=200).fit(x, y)
    assert model.predict(x[y == 2]) == [2]
    assert "classes [2] have a single training example" in model.notes_[-1]


def test_a_network_of_ones_own_is_made_anew_for_every_fit():
    x, y = IRIS

    def network(shape, classes):
        return nn.Sequential(nn.Linear(shape[0], 8), nn.Tanh(), nn.Linear(8, classes))

    model = quick(module=network)
    first = model.fit(x, y).predict_proba(x)
    np.testing.assert_array_equal(first, model.fit(x, y).predict_proba(x))
    assert isinstance(model.module_.members[0][1], nn.Tanh)
    assert isinstance(model.set_params(members="single").fit(x, y).module_[1], nn.Tanh)
    with pytest.raises(ValueError, match=r"function or class that returns one, got Linear"):
        quick(module=nn.Linear(4, 3)).fit(x, y)
    with pytest.raises(
        ValueError, match=r"logit for each of 3 classes, got logits of shape \(1, 5"
    ):
        quick(module=lambda: nn.Linear(4, 5)).fit(x, y)


def test_verbose_prints_progress(capsys):
    quick(verbose=True).fit(*IRIS)
    printed = capsys.readouterr().out
    assert "done 200  total 250" in printed
    quick().fit(*IRIS)
    assert capsys.readouterr().out == ""


def test_a_table_is_fitted_by_a_stack_and_anything_else_by_one_method():
    x, y = IRIS
    stack = quick(k=2).fit(x, y)
    assert list(stack.weights_) == [
        "vanilla, piecewise, mlp-small",
        "oko+la, standard, mlp-small",
        "vanilla, normal, mlp-small",
        "vanilla, standard, linear",
        "forest",
    ]
    assert sum(stack.weights_.values()) == pytest.approx(1)
    assert stack.classifier_.members == 10, "five views of two folds"
    assert 1 <= stack.n_iter_ <= 50
    for changes in ({"method": "vanilla"}, {"views": "single"}, {"module": "mlp"}):
        assert len(quick(**changes).fit(x, y).weights_) == 1
    assert len(quick().fit(x.reshape(-1, 2, 2), y).weights_) == 1, "images"


def test_every_k_and_method_can_be_searched():
    x, y = IRIS
    grid = {"k": [1, 2], "method": [None, "oko", "vanilla"]}
    search = GridSearchCV(quick(learning_rate=0.05), grid, cv=2, n_jobs=2, error_score="raise")
    search.fit(x, y)
    assert len(search.cv_results_["params"]) == 6
    noted = quick(method="vanilla", k=2).fit(x, y)
    assert noted.notes_ == ("vanilla draws no sets, so that k=2 has no effect",)


def test_predictions_of_many_threads_at_once_are_the_same():
    x, y = IRIS
    model = quick().fit(x, y)
    expected = model.predict_proba(x)
    with ThreadPoolExecutor(16) as pool:
        for probs in pool.map(model.predict_proba, [x] * 32):
            np.testing.assert_array_equal(probs, expected)


def test_groups_stay_together_in_the_folds():
    generator = np.random.default_rng(0)
    patients = np.repeat(np.arange(40), 5)
    x = np.repeat(generator.normal(size=(40, 3)), 5, axis=0)  # a patient's rows are the same
    y = np.repeat(generator.integers(2, size=40), 5)  # and the label is chance
    together = quick(max_updates=150).fit(x, y, groups=patients)
    apart = quick(max_updates=150).fit(x, y)
    assert together.oof_score_.value > 0.6 > apart.oof_score_.value
    for patient in range(40):
        rows = together.classifier_.scores.fold_of[patients == patient]
        assert len(set(rows.tolist())) == 1
    with pytest.raises(ValueError, match="group of each of the 200 examples, got 3"):
        quick().fit(x, y, groups=[1, 2, 3])


def test_out_of_fold_probabilities_are_for_the_requested_prior():
    x, y = imbalanced(300)
    share = np.array([1 - y.mean(), y.mean()])
    train, uniform = (quick(prior=prior).fit(x, y) for prior in ("train", "uniform"))
    expected = uniform.oof_proba_ * share
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(train.oof_proba_, expected, rtol=1e-9)
    assert train.oof_score_ == uniform.oof_score_, "both for the training frequencies"
    assert train.oof_score_.value == pytest.approx(log_loss(y, train.oof_proba_))
    without = quick(folds=0).fit(x, y)
    assert without.oof_proba_ is None
    assert without.oof_score_ is None


def test_many_examples_get_fewer_networks_and_a_note():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(10_001, 1)).astype(np.float32)
    y = (x[:, 0] > 0).astype(int)
    model = oko.OddKOutClassifier(max_updates=20, random_state=0).fit(x, y)
    assert model.notes_ == (
        "for 10,001 examples each view has 4 network(s) instead of 8, to save time; set folds=8 "
        "for the usual number",
    )
    assert model.classifier_.members == 20
    usual = oko.OddKOutClassifier(max_updates=20, folds=2, random_state=0).fit(x, y)
    assert usual.notes_ == ()


def test_the_interval_of_the_out_of_fold_score_mostly_covers_the_score_on_new_examples():
    """The full simulation is benchmarks/oof_coverage.py."""
    covered = 0
    for seed in range(6):
        x, y = imbalanced(200, seed)
        model = quick(max_updates=100, random_state=seed).fit(x, y)
        hidden = log_loss(imbalanced(5000, seed + 100)[1], model.predict_proba(
            imbalanced(5000, seed + 100)[0]))  # fmt: skip
        covered += model.oof_score_.low <= hidden <= model.oof_score_.high
    assert covered >= 4, "5.7 of 6 expected"
