"""scikit-learn's own checks of an estimator."""

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator

import oddkout as oko
from oddkout.models import forest

pytestmark = pytest.mark.usefixtures("without_shape_checks")

# The stack differs from a single network in what it fits and predicts. Other checks, such as those
# of inputs and arguments, meet the same code.
CHECKS_OF_THE_STACK = {
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_estimators_pickle",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in_after_fitting",
}


@pytest.fixture(autouse=True)
def ignored_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some checks cast NaN on purpose, one needs a variable set
        yield


def test_all_pass_with_one_network():
    estimator = oko.OddKOutClassifier(method="vanilla", learning_rate=0.01, max_updates=30, folds=0)
    results = check_estimator(estimator, on_fail=None)
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}, "that one runs only with SCIPY_ARRAY_API=1"
    assert len(results) > 50


def test_those_of_predictions_pass_with_the_stack(monkeypatch):
    monkeypatch.setattr(forest, "_TREES", 3)
    estimator = oko.OddKOutClassifier(max_updates=30, folds=2)
    checks = {check.func.__name__: check for _, check in estimator_checks_generator(estimator)}
    assert checks.keys() >= CHECKS_OF_THE_STACK
    for name in sorted(CHECKS_OF_THE_STACK):
        checks[name](estimator)
