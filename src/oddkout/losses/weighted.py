"""Cross-entropy weighted by inverse class frequency."""

import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Labels, at_least, class_labels, classification
from oddkout.losses.reduction import (
    Reduction,
    at_least_float32,
    checked_weight,
    naming_loss,
    reduced,
)


def weighted_cross_entropy(
    logits: Tensor,
    labels: Tensor,
    *,
    weight: Tensor,
    reduction: Reduction = "mean",
) -> Float[Tensor, "*examples"]:
    """Class-weighted cross-entropy as in the paper: weighted losses, unweighted mean.

    PyTorch divides by the sum of the weights in the batch, so a batch of one class is not weighted
    at all. This loss divides by the number of examples, so its expectation is that of
    batch-balancing.

    Args:
        logits: Logits, of shape (examples, classes).
        labels: True classes.
        weight: Weight of each class, e.g. ``class_weights`` of the training labels.
        reduction: ``"mean"``, ``"sum"``, or ``"none"`` for one loss per example.
    """
    labels = classification(logits, labels)
    cross_entropy = naming_loss(at_least_float32(logits), labels[:, None], "soft")
    return reduced(checked_weight(weight, logits)[labels] * cross_entropy, reduction)


def class_weights(labels: Labels, *, classes: int) -> Float[Tensor, " {classes}"]:
    """Inverse class frequencies, scaled to mean 1 over the examples; 0 for absent classes.

    Labels must lie in ``0 .. classes - 1``.

    Example:
        >>> class_weights([0, 0, 0, 1], classes=2)
        tensor([0.6667, 2.0000])
    """
    labels = class_labels(labels)
    if labels.min() < 0 or labels.max() >= at_least("classes", classes, 1):
        raise ValueError(
            f"labels must lie in 0 .. {classes - 1}, got {int(labels.min())} .. "
            f"{int(labels.max())}; number the classes from 0 or raise classes"
        )
    counts = labels.bincount(minlength=classes)
    present = counts > 0
    return torch.where(present, len(labels) / (present.sum() * counts.clamp_min(1)), 0.0)
