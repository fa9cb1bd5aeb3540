"""The confusion matrix as shares of each true class."""

import numpy as np
import pytest

from oddkout.report.confusion import Confusion


def test_shares_are_of_the_true_class_and_pairs_are_the_most_frequent():
    found = Confusion(["a", "b", "c"], np.array([[8.0, 2.0, 0.0], [5.0, 5.0, 0.0], [0, 0, 0]]))
    assert found.is_small
    assert found.rows == [("a", 10, [0.8, 0.2, 0]), ("b", 10, [0.5, 0.5, 0]), ("c", 0, [0, 0, 0])]
    assert found.pairs == [("b", "a", 5, 0.5), ("a", "b", 2, pytest.approx(0.2))]


def test_of_many_classes_the_twelve_worst_pairs_are_shown():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 50, (30, 30)).astype(float)
    found = Confusion([str(n) for n in range(30)], counts)
    assert not found.is_small
    off = counts[~np.eye(30, dtype=bool)]
    assert [round(pair[2]) for pair in found.pairs] == sorted(off, reverse=True)[:12]
