"""Gradients of losses that are written out, against autograd."""

import pytest
import torch
import torch.nn.functional as F

from oddkout.fitting.loss_slopes import cross_entropy_slope, set_slope


def source(seed=0):
    return torch.Generator().manual_seed(seed)


def by_autograd(loss, logits):
    logits = logits.clone().requires_grad_()
    torch.autograd.backward(loss(logits))
    return logits.grad


@pytest.mark.parametrize(("rows", "classes"), [(1, 2), (13, 3), (256, 7)])
def test_the_slope_of_cross_entropy_is_that_of_autograd(rows, classes):
    logits = 5 * torch.randn(rows, classes, generator=source())
    labels = torch.randint(classes, (rows,), generator=source(1))
    expected = by_autograd(lambda own: 3 * F.cross_entropy(own, labels), logits)
    slope = cross_entropy_slope(logits, labels, scale=3.0)
    torch.testing.assert_close(slope, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("has_offset", [True, False])
@pytest.mark.parametrize("members", [2, 3, 5])
def test_the_slope_of_sets_is_that_of_autograd(members, has_offset):
    logits = torch.randn(20, 4, generator=source())
    labels = torch.randint(4, (20,), generator=source(1))
    sets = torch.randint(20, (31, members), generator=source(2))
    offset = torch.randn(4, 31, generator=source(3)) if has_offset else None

    def loss(own):
        summed = sum(own[member] for member in sets.T)
        return 8 * F.cross_entropy(summed + (0 if offset is None else offset.T), labels[sets[:, 0]])

    slope = set_slope(logits, labels, sets, offset=offset, scale=8.0)
    torch.testing.assert_close(slope, by_autograd(loss, logits), rtol=1e-5, atol=1e-7)
