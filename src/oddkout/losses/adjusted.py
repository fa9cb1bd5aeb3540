"""Logit-adjusted cross-entropy (Menon et al., ICLR 2021)."""

import math

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Number, Prior, classification, frequencies
from oddkout.losses.reduction import Reduction, at_least_float32


def logit_adjusted_cross_entropy(
    logits: Tensor,
    labels: Tensor,
    *,
    prior: Prior,
    tau: Number = 1.0,
    smoothing: Number = 0.0,
    reduction: Reduction = "mean",
) -> Float[Tensor, "*examples"]:
    """Cross-entropy of logits + tau log(prior), on batches of natural class frequencies.

    The prior is added in training only, so the model need not learn it: for tau = 1 (also known as
    balanced softmax) its logits are for equally frequent classes, for other tau for frequencies
    proportional to prior ** (1 - tau).

    Args:
        logits: Logits, of shape (examples, classes).
        labels: True classes.
        prior: Class frequencies of the training data, see ``class_frequencies``.
        tau: Strength of the adjustment; 0 is plain cross-entropy.
        smoothing: Label smoothing, from 0 to below 1.
        reduction: ``"mean"``, ``"sum"``, or ``"none"`` for one loss per example.

    Example:
        With equal logits, the model predicts the prior: the loss of the rare class is -log(0.1).

        >>> import torch
        >>> zeros, rare = torch.zeros(1, 2), torch.tensor([1])
        >>> round(logit_adjusted_cross_entropy(zeros, rare, prior=[0.9, 0.1]).item(), 4)
        2.3026
    """
    labels = classification(logits, labels)
    if not (math.isfinite(tau) and 0 <= smoothing < 1):
        raise ValueError(
            f"tau must be finite and smoothing from 0 to below 1, got {tau=} and {smoothing=}"
        )
    shares = frequencies("prior", prior, classes=logits.shape[1])
    rows = at_least_float32(logits)
    adjusted = rows + float(tau) * shares.log().to(rows)
    loss: Float[Tensor, "*examples"] = F.cross_entropy(
        adjusted, labels, label_smoothing=float(smoothing), reduction=reduction
    )
    return loss
