"""Cross-entropy of logits summed over sets, as pure functions of logits and sets."""

from typing import Literal, get_args

from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Number, classification, one_of
from oddkout.losses.reduction import Reduction, naming_loss, reduced
from oddkout.sets import checked_sets, unchecked_set_sum

Targets = Literal["hard", "soft"]


def set_loss(
    logits: Tensor,
    labels: Tensor,
    sets: Tensor,
    *,
    targets: Targets = "hard",
    reduction: Reduction = "mean",
) -> Float[Tensor, "*sets"]:
    """Cross-entropy of the logits summed over each set.

    Args:
        logits: Logits of a pool of examples, of shape (examples, classes).
        labels: Class of each example of the pool.
        sets: Rows of positions in the pool: the pair, then the odd members.
        targets: ``"hard"`` puts all mass on the pair class. ``"soft"`` puts 2 / (k + 2) on the
            pair class and 1 / (k + 2) on each odd class.
        reduction: ``"mean"``, ``"sum"``, or ``"none"`` for one loss per set.

    Example:
        All logits equal: the summed prediction is uniform, so the loss is log(4).

        >>> import torch
        >>> labels, sets = torch.tensor([0, 0, 1, 1]), torch.tensor([[0, 1, 2], [2, 3, 0]])
        >>> round(set_loss(torch.zeros(4, 4), labels, sets).item(), 4)
        1.3863
    """
    labels = classification(logits, labels)
    one_of("targets", targets, get_args(Targets))
    members = checked_members(labels, checked_sets(sets, examples=len(logits)))
    return reduced(naming_loss(unchecked_set_sum(logits, sets), members, targets), reduction)


def unchecked_set_losses(
    logits: Float[Tensor, "pool classes"],
    members: Int[Tensor, "sets members"],
    sets: Int[Tensor, "sets members"],
    *,
    targets: Targets,
    odd_logits: Float[Tensor, "pool classes"] | None = None,
    odd_weight: Number = 1.0,
    offset: Float[Tensor, "*sets classes"] | None = None,
) -> Float[Tensor, " sets"]:
    """Loss of each set, for sets that are known to be valid.

    Args:
        logits: Logits of a pool of examples.
        members: Class of each member of each set.
        sets: Rows of positions in the pool.
        targets: ``"hard"`` or ``"soft"``.
        odd_logits: Logits of the odd-class head.
        odd_weight: Weight of the odd-class loss.
        offset: Added to the summed logits, such as the log frequencies of pair classes; the same
            for all sets, or one row for each.
    """
    summed = unchecked_set_sum(logits, sets)
    if offset is not None:
        summed = summed + offset.to(summed)
    losses = naming_loss(summed, members, targets)
    if odd_logits is None:
        return losses
    return losses + odd_weight * naming_loss(unchecked_set_sum(odd_logits, sets), members, "odd")


def checked_members(
    labels: Int[Tensor, " pool"], sets: Int[Tensor, "sets members"], *, k: int | None = None
) -> Int[Tensor, "sets members"]:
    """Classes of the members of each set, or raise unless each set is a pair and k odd members."""
    if sets.shape[1] < 2:
        raise ValueError(f"a set has at least 2 members, a pair, got {sets.shape[1]}")
    if k is not None and sets.shape[1] != k + 2:
        raise ValueError(
            f"a set with k={k} odd classes has {k + 2} members, got sets of {sets.shape[1]}; pass "
            "the k that the sets were drawn with"
        )
    members = labels[sets]
    distinct = members[:, 1:].sort(dim=1).values.diff(dim=1).ne(0).all(dim=1)
    broken = (members[:, 0] != members[:, 1]) | ~distinct
    if broken.any():
        row = int(broken.nonzero()[0])
        raise ValueError(
            "a set must hold a pair of one class, then one example each of other classes, but set "
            f"{row} holds classes {members[row].tolist()}; draw sets with ClassIndex.draw_sets or, "
            "for layout='paper', batches with OddKOutBatchSampler, unshuffled and with the same k"
        )
    return members
