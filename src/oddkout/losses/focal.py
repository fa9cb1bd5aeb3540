"""Focal loss (Lin et al., ICCV 2017)."""

import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Number, classification
from oddkout.losses.reduction import (
    Reduction,
    at_least_float32,
    checked_weight,
    naming_loss,
    reduced,
)


def focal_loss(
    logits: Tensor,
    labels: Tensor,
    *,
    gamma: Number = 2.0,
    weight: Tensor | None = None,
    reduction: Reduction = "mean",
) -> Float[Tensor, "*examples"]:
    """Cross-entropy scaled by (1 - p) ** gamma, p being the probability of the true class.

    The factor is that of the unweighted probability. At gamma = 0 this is PyTorch's
    ``cross_entropy``, its weighted mean included.

    Args:
        logits: Logits, of shape (examples, classes).
        labels: True classes.
        gamma: How strongly well-classified examples are played down, from 0.
        weight: Weight of each class.
        reduction: ``"mean"``, ``"sum"``, or ``"none"`` for one loss per example.

    Example:
        An even chance between two classes: (1 / 2) ** 2 * log(2).

        >>> round(focal_loss(torch.zeros(1, 2), torch.tensor([0])).item(), 4)
        0.1733
    """
    if not gamma >= 0:
        raise ValueError(f"gamma must be at least 0, got {gamma}; 0 is plain cross-entropy")
    labels = classification(logits, labels)
    cross_entropy = naming_loss(at_least_float32(logits), labels[:, None], "soft")
    # 1 - exp(-x) without cancellation; kept off 0, where a root (gamma < 1) has no derivative.
    missing = -torch.expm1(-cross_entropy)
    missing = missing.clamp_min(torch.finfo(missing.dtype).tiny)
    loss = missing**gamma * cross_entropy
    if weight is None:
        return reduced(loss, reduction)
    weight = checked_weight(weight, logits)[labels]
    if reduction == "mean":
        return (weight * loss).sum() / weight.sum()
    return reduced(weight * loss, reduction)
