"""Divergence of the logits, by finite differences, descent and autograd."""

import math
from itertools import pairwise

import pytest
import torch

from oddkout.paper.theory.divergence import descent, margin_growth, slopes, symmetric, toy_path
from oddkout.paper.theory.risks import risk


@pytest.mark.parametrize(("classes", "k"), [(2, 1), (5, 1), (5, 3), (6, 0)])
def test_the_paper_s_slopes_are_those_of_its_summand(classes, k):
    def summand(a, b):
        other = (classes - k - 1) * math.exp((k + 2) * b)
        total = math.exp(2 * a + k * b) + k * math.exp(a + (k + 1) * b) + other
        return 2 * a + k * b - math.log(total)

    a, b, step = 0.4, -0.3, 1e-5
    by_a, by_b = slopes(a, b, classes=classes, k=k)
    assert by_a == pytest.approx((summand(a + step, b) - summand(a - step, b)) / 2 / step, abs=1e-9)
    assert by_b == pytest.approx((summand(a, b + step) - summand(a, b - step)) / 2 / step, abs=1e-9)


@pytest.mark.parametrize("kind", ["oko", "cross-entropy", "label smoothing"])
def test_descent_in_the_margin_is_descent_in_all_logits(kind):
    def loss(logits):
        if kind == "oko":
            return risk(logits, 1)
        smoothing = 0.1 if kind == "label smoothing" else 0.0
        return torch.nn.functional.cross_entropy(logits, torch.arange(6), label_smoothing=smoothing)

    path = descent(loss, classes=6, steps=60, rate=0.7)
    margins = [a - b for a, b in zip(path.diagonal, path.off_diagonal, strict=True)]
    assert margin_growth(kind, classes=6, steps=60, rate=0.7) == pytest.approx(margins, abs=1e-12)
    assert path.asymmetry < 1e-13


def test_a_symmetric_matrix_has_two_values():
    assert symmetric(2, -1, 3).tolist() == [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]]


def test_the_toy_descends_by_its_gradient():
    def toy(point):
        x, y = point
        return -x - y + (y - x) ** 2

    path = toy_path((0.5, 2), rate=0.1, steps=5)
    for here, there in pairwise(path):
        gradient = torch.autograd.functional.jacobian(toy, here)
        torch.testing.assert_close(there, here - 0.1 * gradient)
