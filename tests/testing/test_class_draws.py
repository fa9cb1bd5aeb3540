"""The test for uniform classes is that of SciPy, and its p-values are uniform."""

import pytest
import torch
from scipy.stats import chisquare

from oddkout.randomness import keyed_generator
from oddkout.testing.class_draws import ClassDraws


def test_draws_of_one_class_are_tested_as_scipy_does():
    counts = torch.tensor([31, 18, 25, 40])
    draws = ClassDraws.of_none(classes=4)
    draws.add(counts, draws=114, size=1)
    assert draws.p_value == pytest.approx(chisquare(counts.numpy()).pvalue, rel=1e-9)


@pytest.mark.parametrize("size", [1, 3, 6])
def test_uniform_draws_of_several_classes_are_seldom_called_uneven(size):
    """P-values are uniform: about 5 % of them are below 0.05."""
    trials, below = 400, 0
    generator = keyed_generator(size)
    for _ in range(trials):
        held = torch.rand(120, 7, generator=generator).argsort(dim=1)[:, :size]
        draws = ClassDraws.of_none(classes=7)
        draws.add(held.flatten().bincount(minlength=7), draws=120, size=size)
        below += draws.p_value < 0.05
    sigma = (trials * 0.05 * 0.95) ** 0.5
    assert abs(below - 0.05 * trials) < 4 * sigma
