"""Class weights are inverse frequencies, and equal batch-balancing in expectation."""

import pytest
import torch
import torch.nn.functional as F
from loss_inputs import random_logits

from oddkout import (
    class_weights,
    weighted_cross_entropy,
)


def test_class_weights_are_inverse_frequencies_of_mean_1():
    labels = [0] * 6 + [1] * 3 + [3]
    weight = class_weights(labels, classes=5)
    assert weight.tolist() == pytest.approx([10 / 18, 10 / 9, 0, 10 / 3, 0])
    assert weight[labels].mean().item() == pytest.approx(1)


def test_weighted_cross_entropy_is_batch_balancing_in_expectation():
    """The mean over all data, weighted, is the mean over classes of the mean within each."""
    labels = torch.tensor([0] * 6 + [1] * 3 + [2])
    logits = random_logits(10, 3)
    cross_entropy = F.cross_entropy(logits, labels, reduction="none")
    balanced = sum(cross_entropy[labels == c].mean() for c in range(3)) / 3
    weight = class_weights(labels, classes=3)
    found = weighted_cross_entropy(logits, labels, weight=weight)
    torch.testing.assert_close(found, balanced)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: class_weights([0, 2], classes=2), r"lie in 0 .. 1, got 0 .. 2"),
    ],
)
def test_bad_input_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
