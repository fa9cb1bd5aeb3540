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
    """Cross-entropy scaled by (1 - p) ** gamma, where p is the probability of the true class.

    Class weights do not enter this factor. With gamma = 0 this is PyTorch's ``cross_entropy``,
    including its weighted mean.

    Args:
        logits: Logits, of shape (examples, classes).
        labels: True classes.
        gamma: How strongly to down-weight well-classified examples; at least 0.
        weight: Weight of each class.
        reduction: ``"mean"``, ``"sum"``, or ``"none"`` for one loss per example.

    Example:
        Two classes of equal probability: (1 / 2) ** 2 * log(2).

        >>> round(focal_loss(torch.zeros(1, 2), torch.tensor([0])).item(), 4)
        0.1733
    """
    if not gamma >= 0:
        raise ValueError(f"gamma must be at least 0, got {gamma}; 0 is plain cross-entropy")
    labels = classification(logits, labels)
    cross_entropy = naming_loss(at_least_float32(logits), labels[:, None], "soft")
    # 1 - p without cancellation; above 0, where the power has no derivative if gamma < 1.
    error = -torch.expm1(-cross_entropy)
    error = error.clamp_min(torch.finfo(error.dtype).tiny)
    loss = error**gamma * cross_entropy
    if weight is None:
        return reduced(loss, reduction)
    weight = checked_weight(weight, logits)[labels]
    if reduction == "mean":
        return (weight * loss).sum() / weight.sum()
    return reduced(weight * loss, reduction)
