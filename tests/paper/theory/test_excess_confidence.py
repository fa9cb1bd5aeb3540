"""Relative cross-entropy, by hand and on a grid."""

import math
from fractions import Fraction

import pytest
import torch

from oddkout.paper.theory.excess_confidence import (
    least_relative_cross_entropy,
    log_coefficients,
    prediction,
    relative_cross_entropy,
)


def test_relative_cross_entropy_by_hand():
    log_probs = torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64).log()
    entropy = 1.5 * math.log(2)
    expected = [math.log(2) - entropy, 2 * math.log(2) - entropy, 2 * math.log(2) - entropy]
    assert relative_cross_entropy(log_probs).tolist() == pytest.approx(expected, abs=1e-15)


def test_predictions_of_the_search_are_distributions_below_their_cap():
    generator = torch.Generator().manual_seed(0)
    share = 5 * torch.randn(50, generator=generator, dtype=torch.float64)
    rest = 5 * torch.randn(50, 4, generator=generator, dtype=torch.float64)
    probs = prediction(share, rest, cap=0.2).exp()
    torch.testing.assert_close(probs.sum(dim=1), torch.ones(50).double())
    assert (probs[:, 0] <= 0.2).all()


def test_the_search_finds_the_least_relative_cross_entropy_of_two_classes():
    """With C = 2, RC = (1 - q) log((1 - q) / q), least over q <= 0.9: checked on a grid."""
    q = torch.linspace(0.01, 0.9, 20_000, dtype=torch.float64)
    least = float(((1 - q) * ((1 - q) / q).log()).min())
    assert least_relative_cross_entropy(2, cap=0.9) == pytest.approx(least, abs=1e-6)


def test_mean_relative_cross_entropy_weighs_logs_by_the_calibration_gap():
    q = [Fraction(1, 2), Fraction(1, 2)]
    assert log_coefficients(q, [[Fraction(1), Fraction(0)]]) == [Fraction(-1, 2), Fraction(1, 2)]
    assert log_coefficients(q, [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]) == [0, 0]
