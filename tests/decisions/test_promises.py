"""Guaranteed coverage, against numbers worked out by hand."""

import numpy as np
import pytest

from oddkout.decisions.promises import promised_coverage


def test_split_scores_promise_1_minus_alpha_and_other_scores_nothing():
    sizes = np.array([5, 500])
    split = promised_coverage(sizes, alpha=0.1, source="split", folds=5)
    others = promised_coverage(sizes, alpha=0.1, source="others", folds=5)
    np.testing.assert_allclose(split, 0.9)
    np.testing.assert_allclose(others, 0.0)


def test_members_promise_1_minus_2_alpha_less_the_smaller_term():
    """100 examples in 5 folds: min(1.6 / 21, 0.95 / 6); leave-one-out: nothing is lost."""
    given = promised_coverage(np.array([100]), alpha=0.1, source="members", folds=5)
    assert given[0] == pytest.approx(0.8 - 1.6 / 21)
    ten = promised_coverage(np.array([10]), alpha=0.1, source="members", folds=5)
    assert ten[0] == pytest.approx(0.8 - 0.5 / 6)
    alone = promised_coverage(np.array([40]), alpha=0.1, source="members", folds=40)
    assert alone[0] == pytest.approx(0.8)
    assert promised_coverage(np.array([9]), alpha=0.5, source="members", folds=3)[0] == 0
