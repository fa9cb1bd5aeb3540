"""LDAM: margins by class size, and the loss of the publication."""

import math

import pytest
import torch
import torch.nn.functional as F
from loss_inputs import random_logits

from oddkout import effective_number_weights, ldam_loss, weighted_cross_entropy
from oddkout.losses.margin import ldam_margins

COUNTS = [81, 16, 1]
LABELS = torch.tensor([0, 2, 1, 1, 0])


def test_margins_fall_with_the_fourth_root_of_the_class_size():
    assert ldam_margins(COUNTS).tolist() == pytest.approx([0.5 / 3, 0.25, 0.5])
    assert ldam_margins(COUNTS, largest=0.3).max().item() == pytest.approx(0.3)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_the_loss_is_the_formula_of_the_paper(scale):
    """-log(exp(s (z_y - D_y)) / (exp(s (z_y - D_y)) + sum_{c != y} exp(s z_c)))."""
    logits = random_logits(5, 3)
    margins = [0.5 * count**-0.25 for count in COUNTS]
    expected = []
    for row, label in zip(logits.tolist(), LABELS.tolist(), strict=True):
        own = math.exp(scale * (row[label] - margins[label]))
        others = sum(math.exp(scale * row[c]) for c in range(3) if c != label)
        expected.append(-math.log(own / (own + others)))
    found = ldam_loss(logits, LABELS, counts=COUNTS, scale=scale, reduction="none")
    assert found.tolist() == pytest.approx(expected, rel=1e-12)


def test_without_margins_it_is_weighted_cross_entropy():
    logits = random_logits(5, 3)
    plain = ldam_loss(logits, LABELS, counts=COUNTS, largest=0.0, scale=1)
    torch.testing.assert_close(plain, F.cross_entropy(logits, LABELS))
    weight = effective_number_weights(LABELS, classes=3, beta=0.9).float()
    weighted = ldam_loss(logits, LABELS, counts=COUNTS, largest=0.0, scale=1, weight=weight)
    torch.testing.assert_close(weighted, weighted_cross_entropy(logits, LABELS, weight=weight))


def test_gradients_are_those_of_finite_differences():
    logits = random_logits(5, 3).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda z: ldam_loss(z, LABELS, counts=COUNTS, scale=3.0), logits
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"counts": [3, 0, 1]}, "counts must hold at least one example of each class"),
        ({"counts": [3, 1]}, "counts must hold one number per class, 3, got 2"),
        ({"counts": COUNTS, "scale": 0}, "scale must be above 0, got 0"),
    ],
)
def test_bad_input_is_refused(options, text):
    with pytest.raises(ValueError, match=text):
        ldam_loss(random_logits(5, 3), LABELS, **options)
