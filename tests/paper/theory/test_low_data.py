"""Theorem 1, by its stationarity equation, autograd and sampling."""

import math

import pytest
import torch
from scipy.optimize import brentq
from scipy.special import expit

from oddkout import ClassIndex, OddKOutLoss
from oddkout.paper.theory import low_data


@pytest.mark.parametrize("epsilon", low_data.EPSILONS)
def test_the_minimiser_solves_the_stationarity_equation(epsilon):
    """With a = (0, -t, t) by symmetry, the derivative in t is this, worked out on paper."""

    def slope(t):
        common, rare = 1 - epsilon, epsilon
        mixed = common**2 * (3 * expit(t) - 2)
        return mixed - 2 * rare * common * expit(-2 * t) - rare**2 * expit(-t)

    t = brentq(slope, 0, 5, xtol=1e-15)
    a = low_data.minimiser(epsilon)
    assert a.tolist() == pytest.approx([0, -t, t], abs=1e-12)


def test_derivatives_of_the_expected_loss_equal_autograd():
    a = torch.tensor([0.3, -0.7, 1.1], dtype=torch.float64)
    _, gradient, hessian = low_data.expected_loss(a, 0.2)
    value = torch.autograd.functional.jacobian(lambda a: low_data.expected_loss(a, 0.2)[0], a)
    twice = torch.autograd.functional.hessian(lambda a: low_data.expected_loss(a, 0.2)[0], a)
    torch.testing.assert_close(gradient, value)
    torch.testing.assert_close(hessian, twice)


def test_the_expected_loss_is_that_of_sampled_sets():
    """On 2 x 2,000 examples the pair is all but drawn with replacement."""
    labels = torch.arange(4000) % 2
    x = torch.where(torch.arange(4000) < 1200, labels + 1, 0)
    a = torch.tensor([0.3, -0.7, 1.1], dtype=torch.float64)
    sets = ClassIndex(labels).draw_sets(
        k=1, sets=100_000, generator=torch.Generator().manual_seed(0)
    )
    table = torch.stack([torch.zeros(3).double(), a], dim=1)
    losses = OddKOutLoss(k=1, reduction="none")(table[x], labels, sets=sets)
    expected = float(low_data.expected_loss(a, 0.3)[0])
    assert abs(float(losses.mean()) - expected) < 4 * float(losses.std()) / math.sqrt(100_000)
