"""Estimators that fit quickly, for tests."""

from sklearn.datasets import load_iris

import oddkout as oko

IRIS = load_iris(return_X_y=True)


def quick(**changes):
    options = {"max_updates": 50, "folds": 2, "random_state": 0}
    if {"method", "module"} & changes.keys() or changes.get("views") == "single":
        options["learning_rate"] = 0.1
    return oko.OddKOutClassifier(**options | changes)
