"""Coverage and size of sets, counted by hand."""

import math

import numpy as np
import pytest

from oddkout.decisions import set_coverage


def test_coverage_and_size_overall_and_by_class():
    sets = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1]], bool)
    overall, first, second, third = set_coverage(sets, [0, 1, 1, 1], classes=["a", "b", "c"])
    assert (overall.examples, overall.coverage, overall.size, overall.empty) == (4, 0.75, 1.5, 0.25)
    assert (first.name, first.coverage, first.size) == ("a", 1.0, 1.0)
    assert second.coverage == pytest.approx(2 / 3)
    assert third.examples == 0
    assert math.isnan(third.coverage)
    assert first.interval == pytest.approx((0.025, 1.0))


def test_labels_outside_the_classes_are_refused():
    with pytest.raises(ValueError, match="example 0 has label 5"):
        set_coverage(np.ones((1, 2), bool), [5])
