"""All losses are computed in single precision at least."""

import pytest
import torch
from loss_inputs import LABELS, generator, random_logits

from oddkout import (
    ClassIndex,
    class_weights,
    focal_loss,
    set_loss,
    weighted_cross_entropy,
)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_half_precision_logits_lose_no_digits_in_the_loss(dtype):
    logits = (10 * random_logits()).to(dtype)
    sets = ClassIndex(LABELS).draw_sets(k=3, sets=64, generator=generator())
    weight = class_weights(LABELS, classes=8)
    for loss in (
        lambda logits: set_loss(logits, LABELS, sets),
        lambda logits: set_loss(logits, LABELS, sets, targets="soft"),
        lambda logits: focal_loss(logits, LABELS),
        lambda logits: weighted_cross_entropy(logits, LABELS, weight=weight),
    ):
        exact = loss(logits.double()).item()
        assert loss(logits).item() == pytest.approx(exact, rel=1e-6)
