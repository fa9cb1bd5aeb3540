"""Label-distribution-aware margins (LDAM; Cao et al., NeurIPS 2019)."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Labels, Number, classification
from oddkout.losses.reduction import Reduction, at_least_float32, checked_weight, reduced


def ldam_margins(counts: Labels, *, largest: Number = 0.5) -> Float[Tensor, " classes"]:
    """Margins proportional to count ** -1/4; the rarest class has the largest.

    Args:
        counts: Number of training examples of each class, each at least 1.
        largest: Margin of the rarest class.

    Example:
        >>> ldam_margins([16, 1]).tolist()
        [0.25, 0.5]
    """
    sizes = torch.as_tensor(counts, dtype=torch.float64)
    if sizes.ndim != 1 or not (sizes >= 1).all():
        raise ValueError(
            f"counts must hold at least one example of each class, got {sizes.tolist()}; leave out "
            "classes without examples"
        )
    margins = sizes**-0.25
    return float(largest) * margins / margins.max()


def ldam_loss(
    logits: Tensor,
    labels: Tensor,
    *,
    counts: Labels,
    largest: Number = 0.5,
    scale: Number = 30.0,
    weight: Tensor | None = None,
    reduction: Reduction = "mean",
) -> Float[Tensor, "*examples"]:
    """Cross-entropy after the logit of the true class is lowered by its margin.

    The paper's logits are cosines of normalised features and weights, which ``scale`` turns into
    ordinary logits. For a network with an ordinary last layer, use ``scale=1``. Deferred
    re-weighting means ``weight=None`` in the first part of training and
    ``effective_number_weights`` in the last.

    Args:
        logits: Logits, of shape (examples, classes); cosines in the paper.
        labels: True classes.
        counts: Number of training examples of each class.
        largest: Margin of the rarest class.
        scale: Factor of the logits after the margin.
        weight: Weight of each class; the mean divides by the number of examples.
        reduction: ``"mean"``, ``"sum"``, or ``"none"`` for one loss per example.

    Example:
        Equal logits, margin 0.5: the loss is log(1 + exp(0.5)).

        >>> zeros, rare = torch.zeros(1, 2), torch.tensor([1])
        >>> round(ldam_loss(zeros, rare, counts=[16, 1], scale=1).item(), 4)
        0.9741
    """
    labels = classification(logits, labels)
    if not scale > 0:
        raise ValueError(f"scale must be above 0, got {scale}")
    margins = ldam_margins(counts, largest=largest)
    if len(margins) != logits.shape[1]:
        raise ValueError(
            f"counts must hold one number per class, {logits.shape[1]}, got {len(margins)}"
        )
    rows = at_least_float32(logits)
    lowered = rows - F.one_hot(labels, logits.shape[1]) * margins.to(rows)
    losses = F.cross_entropy(float(scale) * lowered, labels, reduction="none")
    if weight is not None:
        losses = checked_weight(weight, logits)[labels] * losses
    return reduced(losses, reduction)
