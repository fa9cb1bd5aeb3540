"""Weighted tails of scores, against a slow loop."""

import numpy as np
import pytest

from oddkout.decisions.tails import ScoreTail, is_vacuous


@pytest.mark.parametrize("is_strict", [False, True])
def test_the_tail_is_the_weight_of_scores_beyond(is_strict):
    rng = np.random.default_rng(0)
    scores, weights = rng.integers(0, 6, 30) / 5.0, rng.random(30)
    values = np.linspace(-0.1, 1.1, 13)
    expected = [
        sum(w for s, w in zip(scores, weights, strict=True) if s > v or (s == v and not is_strict))
        for v in values
    ]
    tail = ScoreTail.of(scores, weights)
    np.testing.assert_allclose(tail.beyond(values, is_strict=is_strict), expected)
    assert tail.total == pytest.approx(weights.sum())


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1, 0.2, 0.3, 0.5])
def test_a_guarantee_is_empty_below_1_over_alpha_minus_1_examples(alpha):
    counts = np.arange(120.0)
    needed = 1 / alpha - 1
    expected = counts < needed - 1e-9
    np.testing.assert_array_equal(is_vacuous(counts, np.ones(120), alpha=alpha), expected)
    np.testing.assert_array_equal(is_vacuous(counts, np.ones(120), alpha=1 - (1 - alpha)), expected)
