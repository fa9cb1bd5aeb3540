"""The focal loss is compared with PyTorch's cross-entropy and its formula."""

import pytest
import torch
import torch.nn.functional as F
from loss_inputs import LABELS, generator, random_logits

from oddkout import (
    focal_loss,
)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_focal_loss_at_gamma_0_is_cross_entropy(reduction):
    logits, weight = random_logits(), torch.rand(8, generator=generator(), dtype=torch.float64)
    for given in (None, weight):
        torch.testing.assert_close(
            focal_loss(logits, LABELS, gamma=0, weight=given, reduction=reduction),
            F.cross_entropy(logits, LABELS, weight=given, reduction=reduction),
        )


def test_focal_loss_takes_its_factor_from_the_unweighted_probability():
    logits, weight = random_logits(), torch.rand(8, generator=generator(), dtype=torch.float64)
    probability = logits.softmax(dim=1).gather(1, LABELS[:, None])[:, 0]
    expected = -weight[LABELS] * (1 - probability) ** 2 * probability.log()
    found = focal_loss(logits, LABELS, gamma=2, weight=weight, reduction="none")
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
def test_focal_loss_has_a_finite_gradient_at_certainty(gamma):
    logits = torch.tensor([[200.0, 0.0], [0.0, 200.0]], requires_grad=True)
    focal_loss(logits, torch.tensor([0, 0]), gamma=gamma).backward()
    assert logits.grad.isfinite().all()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: focal_loss(torch.zeros(1, 2), torch.tensor([0]), gamma=-1), "gamma must be at le"),
        (
            lambda: focal_loss(torch.zeros(1, 2), torch.tensor([0]), weight=torch.ones(3)),
            r"one number per class, 2, got shape \(3,\)",
        ),
    ],
)
def test_bad_input_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
