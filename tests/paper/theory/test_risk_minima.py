"""Derivatives of the risks in one entry, against autograd."""

import pytest
import torch

from oddkout.paper.theory.risk_minima import (
    first_derivative,
    minimum,
    second_derivative,
    slice_terms,
)
from oddkout.paper.theory.risks import constant, risk


def random_matrix(classes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(classes, classes, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("targets", ["hard", "soft"])
@pytest.mark.parametrize(("classes", "k"), [(2, 1), (4, 0), (4, 2), (5, 1), (5, 4)])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (1, 0), (0, 1)])
def test_derivatives_in_one_entry_equal_autograd(targets, classes, k, row, column):
    from mpmath import iv

    logits = random_matrix(classes, seed=1)

    def printed(x):
        mask = torch.zeros_like(logits)
        mask[row, column] = 1
        moved = torch.where(mask.bool(), x, logits)
        return constant(classes, k, targets) * risk(moved, k, targets)

    x = torch.tensor(0.4, dtype=torch.float64)
    terms = slice_terms(logits, k, row=row, column=column)[targets]
    once = float(torch.autograd.functional.jacobian(printed, x))
    twice = float(torch.autograd.functional.hessian(printed, x))
    assert float(first_derivative(terms, iv.mpf(0.4)).mid) == pytest.approx(once, abs=1e-12)
    assert float(second_derivative(terms, iv.mpf(0.4)).mid) == pytest.approx(twice, abs=1e-12)
    if k:
        least = minimum(terms)
        near = [float(printed(torch.tensor(least + step).double())) for step in (-1e-3, 0, 1e-3)]
        assert near[1] == min(near)
