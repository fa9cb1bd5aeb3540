"""Parts that all losses share: cross-entropy of set members, class weights, and reduction."""

from typing import Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import one_of

Reduction = Literal["mean", "sum", "none"]

# The members of a set (pair, pair, odd ...) whose classes are the target.
_NAMED = {"hard": slice(0, 1), "soft": slice(None), "odd": slice(2, None)}


def naming_loss(
    logits: Float[Tensor, "rows classes"],
    members: Int[Tensor, "rows members"],
    named: Literal["hard", "soft", "odd"],
) -> Float[Tensor, " rows"]:
    """Cross-entropy of each row of logits, averaged over its target members."""
    # Along the first axis: with few classes, that is twice as fast on a CPU.
    return -F.log_softmax(logits.T, dim=0).gather(0, members.T[_NAMED[named]]).mean(dim=0)


def checked_weight(weight: Tensor, logits: Tensor) -> Tensor:
    """Return the weights on the device of the logits, or raise unless there is one per class."""
    if weight.shape != logits.shape[1:]:
        raise ValueError(
            f"weight must hold one number per class, {logits.shape[1]}, got shape "
            f"{tuple(weight.shape)}; use class_weights(labels, classes={logits.shape[1]})"
        )
    return weight.to(logits.device, torch.promote_types(logits.dtype, torch.float32))


def at_least_float32(logits: Tensor) -> Tensor:
    """Convert half-precision logits to float32, so that a loss stays accurate under autocast."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def reduced(losses: Float[Tensor, " rows"], reduction: Reduction) -> Float[Tensor, "*rows"]:
    """Apply a ``reduction``, as PyTorch's losses do."""
    one_of("reduction", reduction, get_args(Reduction))
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()
