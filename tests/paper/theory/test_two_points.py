"""Smooth calibration errors of the two-point example, by closed form and grid."""

import math

import pytest
import torch
from scipy.special import erf

from oddkout.paper.theory.two_points import lipschitz_error, smooth_ece, smoothed_ece


@pytest.mark.parametrize("bandwidth", [0.02, 0.05])
@pytest.mark.parametrize("delta", [0.01, 0.1])
def test_the_smoothed_error_has_a_closed_form_far_from_the_ends(delta, bandwidth):
    """Two Gaussians of opposite sign, 2 delta apart: (1/2 - delta) (2 Phi(delta / s) - 1)."""
    expected = (0.5 - delta) * erf(delta / bandwidth / math.sqrt(2))
    assert smoothed_ece(delta, bandwidth) == pytest.approx(expected, abs=1e-6)


def test_smooth_ece_is_its_own_bandwidth():
    for delta in (0.01, 0.2):
        bandwidth = smooth_ece(delta)
        assert smoothed_ece(delta, bandwidth) == pytest.approx(bandwidth, abs=1e-8)
    assert smooth_ece(0.0) == 0


def test_the_lipschitz_error_by_a_grid_of_weights():
    delta = 0.1
    w = torch.linspace(-1, 1, 401, dtype=torch.float64)
    first, second = torch.meshgrid(w, w, indexing="ij")
    gain = (second - first) * (0.5 - delta) / 2
    allowed = (second - first).abs() <= 2 * delta + 1e-12
    assert lipschitz_error(delta) == pytest.approx(float(gain[allowed].max()), abs=1e-9)
