"""Confidence intervals have the limits of their formulas."""

import math

import numpy as np
import pytest
import torch

from oddkout.metrics.intervals import bootstrap_interval, clopper_pearson, mean_of_shares


def test_the_interval_of_a_mean_has_the_levels_of_bca():
    """With an exactly normal, unbiased bootstrap the limits are 1.96 standard errors away."""
    normal = torch.special.ndtri((torch.arange(9999, dtype=torch.float64) + 0.5) / 9999)
    low, high = bootstrap_interval(0.0, normal)
    assert (low, high) == pytest.approx((-1.96, 1.96), abs=0.01)
    low, high = bootstrap_interval(0.0, normal, acceleration=0.05)  # Efron's formula by hand
    expected = [z / (1 - 0.05 * z) for z in (-1.95996, 1.95996)]
    assert (low, high) == pytest.approx(tuple(expected), abs=0.02)
    low, high = bootstrap_interval(0.5, normal)  # bias: replicates lie half a sigma too low
    assert (low, high) == pytest.approx((2 * 0.5 - 1.96, 2 * 0.5 + 1.96), abs=0.02)


def test_shares_that_are_all_one_have_wide_intervals():
    assert float(clopper_pearson(0, 10)[1]) == pytest.approx(1 - 0.025 ** (1 / 10))
    assert tuple(map(float, clopper_pearson(0, 0))) == (0.0, 1.0)
    mean, low, high = mean_of_shares(np.array([10.0, 10.0]), np.array([10.0, 10.0]))
    one = float(clopper_pearson(10, 10)[0])
    assert (mean, high) == (1.0, 1.0)
    assert low == pytest.approx(1 - (1 - one) / math.sqrt(2))
