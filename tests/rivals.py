"""Classifiers of others that misbehave, for tests of comparisons."""

import time

import numpy as np
from grids import here
from sklearn.base import BaseEstimator, ClassifierMixin

# Comparisons that take seconds.
QUICK = {"learning_rates": [0.1], "folds": 2, "recipe": {"updates": 10}, "executor": here}


class Constant(ClassifierMixin, BaseEstimator):
    """Predicts the same row for every example."""

    def __init__(self, row=None, seconds=0.0, error=""):
        self.row = row
        self.seconds = seconds
        self.error = error

    def fit(self, x, y):
        if self.error:
            raise RuntimeError(self.error)
        time.sleep(self.seconds)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, x):
        row = np.full(len(self.classes_), 1 / len(self.classes_)) if self.row is None else self.row
        return np.tile(row, (len(x), 1))


class Plain:
    """A classifier that knows nothing of scikit-learn."""

    def fit(self, x, y):
        self.means = np.stack([x[y == c].mean(axis=0) for c in np.unique(y)])

    def predict_proba(self, x):
        near = np.exp(-0.5 * ((x[:, None] - self.means) ** 2).sum(axis=2))
        return near / near.sum(axis=1, keepdims=True)


class Stuck(Constant):
    """Never returns from compiled code, which Python cannot interrupt."""

    def fit(self, x, y):
        return sum(range(10**14))


def signal_table(*, rows=120, signal=1.5, seed=0):
    """Three classes, four features."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, size=rows, p=[0.5, 0.3, 0.2])
    return rng.normal(size=(rows, 4)) + signal * np.eye(3, 4)[y], y


def uniform():
    """A function that makes a classifier, as named on the command line."""
    return Constant()


def grouped_rows(executor, folder):
    """The numbers of a comparison on grouped data, performed by an executor."""
    import oddkout as oko

    x, y = signal_table(rows=90)
    comparison = oko.compare(
        (x, y), groups=np.arange(90) // 3, methods=["oko"], seeds=1, out=folder,
        **QUICK | {"executor": executor},
    )  # fmt: skip
    scores = [run.fold_metrics for run in comparison.runs]
    return comparison.table.rows, scores, [run.test_rows.tolist() for run in comparison.runs]
