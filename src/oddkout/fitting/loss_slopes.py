"""Gradients of the two most frequent losses by the logits, written out.

They call the kernels that autograd would call, so they are the same to the last bit. Building and
walking a graph takes several times as long for batches as small as those of tables.
"""

from functools import lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor


def cross_entropy_slope(
    logits: Float[Tensor, "rows classes"], labels: Int[Tensor, " rows"], *, scale: float
) -> Float[Tensor, "rows classes"]:
    """Gradient of ``scale`` times the mean cross-entropy.

    Example:
        >>> logits, labels = torch.zeros(2, 2), torch.tensor([0, 1])
        >>> cross_entropy_slope(logits, labels, scale=2.0)
        tensor([[-0.5000,  0.5000],
                [ 0.5000, -0.5000]])
    """
    log_probs = logits.log_softmax(dim=1)
    return _softmax_slope(log_probs, labels[:, None], dim=1, share=-_quotient(scale, len(labels)))


def set_slope(
    logits: Float[Tensor, "pool classes"],
    labels: Int[Tensor, " pool"],
    sets: Int[Tensor, "sets members"],
    *,
    offset: Float[Tensor, "classes sets"] | None,
    scale: float,
) -> Float[Tensor, "pool classes"]:
    """Gradient of ``scale`` times the mean cross-entropy of logits summed over sets.

    Args:
        logits: Logits of a pool of examples.
        labels: Their classes.
        sets: Rows of positions in the pool: the pair, whose class is the target, then others.
        offset: Added to the summed logits, a column for each set.
        scale: Multiple of the mean.

    Example:
        All logits are equal. The set lowers its pair class and raises the other, for each member.

        >>> pool, sets = torch.zeros(3, 2), torch.tensor([[0, 1, 2]])
        >>> set_slope(pool, torch.tensor([0, 0, 1]), sets, offset=None, scale=1.0)
        tensor([[-0.5000,  0.5000],
                [-0.5000,  0.5000],
                [-0.5000,  0.5000]])
    """
    # Classes come first: with few of them, all steps are several times as fast on a CPU.
    columns = logits.T.contiguous()
    summed = columns.index_select(1, sets[:, 0])
    for member in sets.T[1:]:
        summed += columns.index_select(1, member)
    if offset is not None:
        summed += offset
    log_probs = summed.log_softmax(dim=0)
    targets = labels.index_select(0, sets[:, 0])[None]
    slope = _softmax_slope(log_probs, targets, dim=0, share=-_quotient(scale, len(sets)))
    # Set by set, as autograd adds them up.
    each = slope[:, :, None].expand(-1, -1, sets.shape[1]).flatten(1)
    return torch.zeros_like(columns).index_add_(1, sets.flatten(), each).T.contiguous()


def _softmax_slope(
    log_probs: Tensor, targets: Int[Tensor, "_ _"], *, dim: int, share: float
) -> Tensor:
    """Gradient of ``share`` times the sum of the log-probabilities of the targets."""
    own = torch.zeros_like(log_probs).scatter_(dim, targets, share)
    slope: Tensor = torch.ops.aten._log_softmax_backward_data(own, log_probs, dim, log_probs.dtype)
    return slope


@lru_cache
def _quotient(scale: float, count: int) -> float:
    """``scale / count`` in the precision of the logits."""
    return (torch.tensor(scale) / count).item()
