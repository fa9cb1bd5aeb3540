"""The losses of the paper: cross-entropy of set sums, focal loss, class-weighted cross-entropy."""

from typing import Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from oddkout.checks import Labels, Number, at_least, class_labels, classification, one_of
from oddkout.sets import ClassIndex, Singletons, checked_sets, unchecked_set_sum

Targets = Literal["hard", "soft"]
Reduction = Literal["mean", "sum", "none"]
Layout = Literal["pool", "paper"]

# Which members of a set (pair, pair, odd ...) a head is asked to name.
_NAMED = {"hard": slice(0, 1), "soft": slice(None), "odd": slice(2, None)}


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
        labels: Class of every example of the pool.
        sets: Rows of positions into the pool: the pair, then the odd members.
        targets: ``"hard"`` puts all mass on the pair class, ``"soft"`` spreads it over the
            members: 2 / (k + 2) on the pair class and 1 / (k + 2) on each odd class.
        reduction: ``"mean"``, ``"sum"``, or ``"none"`` for one loss per set.

    Example:
        All logits equal: the summed prediction is uniform, so the loss is log(4).

        >>> labels, sets = torch.tensor([0, 0, 1, 1]), torch.tensor([[0, 1, 2], [2, 3, 0]])
        >>> round(set_loss(torch.zeros(4, 4), labels, sets).item(), 4)
        1.3863
    """
    labels = classification(logits, labels)
    one_of("targets", targets, get_args(Targets))
    members = _checked_members(labels, checked_sets(sets, examples=len(logits)))
    return _reduced(_naming_loss(unchecked_set_sum(logits, sets), members, targets), reduction)


class OddKOutLoss(nn.Module):
    """Odd-k-out criterion for anybody's training loop.

    In the pool layout the sets are drawn inside the batch it is given, at any number and any k
    for the price of cross-entropy on that batch; feed it from ``ClassBalancedBatchSampler``. In
    the paper layout the batch is read set by set, as ``OddKOutBatchSampler`` lays it out. Either
    way the model sees an ordinary batch and is used at inference as it is.

    Args:
        k: Number of odd classes in a set.
        targets: ``"hard"`` or ``"soft"``, see ``set_loss``.
        sets: Number of sets to draw in a pool; twice as many as it has examples if not given.
        layout: ``"pool"`` or ``"paper"``.
        odd_weight: Weight of the odd-class loss, added when ``odd_logits`` are given; it may be
            changed between steps.
        singletons: What to do with classes that occur once in a pool, see ``ClassIndex``.
        reduction: ``"mean"``, ``"sum"``, or ``"none"`` for one loss per set.
        generator: Source of the sets (on the CPU, whatever the device of the logits); torch's
            global one if not given.

    Example:
        >>> criterion = OddKOutLoss(k=1)
        >>> labels = torch.tensor([0, 0, 1, 1, 2, 2])
        >>> round(criterion(torch.zeros(6, 3), labels).item(), 4)  # log(3)
        1.0986
    """

    def __init__(
        self,
        k: int = 1,
        *,
        targets: Targets = "hard",
        sets: int | None = None,
        layout: Layout = "pool",
        odd_weight: Number = 1.0,
        singletons: Singletons = "odd-only",
        reduction: Reduction = "mean",
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.k = at_least("k", k, 0)
        one_of("targets", targets, get_args(Targets))
        self.targets = targets
        self.sets = None if sets is None else at_least("sets", sets, 1)
        one_of("layout", layout, get_args(Layout))
        self.layout = layout
        if self.layout == "paper" and sets is not None:
            raise ValueError(
                f"layout='paper' reads its sets from the rows of the batch, got sets={sets}; set "
                "sets_per_batch of OddKOutBatchSampler instead"
            )
        self.odd_weight = odd_weight
        one_of("singletons", singletons, get_args(Singletons))
        self.singletons = singletons
        one_of("reduction", reduction, get_args(Reduction))
        self.reduction = reduction
        self.generator = generator

    def forward(
        self,
        logits: Tensor | tuple[Tensor, Tensor],
        labels: Tensor,
        *,
        odd_logits: Tensor | None = None,
        sets: Tensor | None = None,
    ) -> Float[Tensor, "*sets"]:
        """Loss of one batch.

        Args:
            logits: Logits of the batch, or the pair (logits, odd-class logits) that a model
                ``with_odd_head`` returns in training.
            labels: Class of every row.
            odd_logits: Logits of the odd-class head; their loss is the mean over the odd classes.
            sets: Sets to use instead of drawn ones: rows of positions into the batch.
        """
        if isinstance(logits, tuple):
            logits, odd_logits = logits
        labels = classification(logits, labels)
        if sets is None and self.layout == "pool":
            sets = self._drawn_sets(labels)
            members = labels[sets]
        else:
            sets = self._rows_as_sets(labels) if sets is None else sets
            members = _checked_members(labels, checked_sets(sets, examples=len(logits)), k=self.k)
        if odd_logits is not None:
            if self.k == 0:
                raise ValueError("odd_logits need an odd class to name, but k=0; leave them out")
            classification(odd_logits, labels)
        losses = unchecked_set_losses(
            logits,
            members,
            sets,
            targets=self.targets,
            odd_logits=odd_logits,
            odd_weight=self.odd_weight,
        )
        return _reduced(losses, self.reduction)

    def extra_repr(self) -> str:
        """Spell the arguments out where PyTorch prints the module."""
        shown = ("k", "targets", "sets", "layout", "odd_weight", "singletons", "reduction")
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)

    def _rows_as_sets(self, labels: Int[Tensor, " batch"]) -> Int[Tensor, "sets members"]:
        """Read the sets from the order of the rows."""
        members = self.k + 2
        if len(labels) % members:
            raise ValueError(
                f"layout='paper' with k={self.k} reads a batch in sets of {members} rows, got "
                f"{len(labels)} rows; feed it from OddKOutBatchSampler with the same k"
            )
        return torch.arange(len(labels), device=labels.device).view(-1, members)

    def _drawn_sets(self, labels: Int[Tensor, " pool"]) -> Int[Tensor, "sets members"]:
        """Draw the sets inside the pool."""
        try:
            index = ClassIndex(labels, singletons=self.singletons)
            sets = index.draw_sets(
                k=self.k, sets=self.sets or 2 * len(labels), generator=self.generator
            )
        except ValueError as error:
            raise ValueError(
                f"no sets can be drawn in this batch of {len(labels)} examples: {error}; "
                f"ClassBalancedBatchSampler with classes_per_batch >= {self.k + 1} and "
                "examples_per_class >= 2 gives batches that hold them"
            ) from None
        return sets.to(labels.device)


def unchecked_set_losses(
    logits: Float[Tensor, "pool classes"],
    members: Int[Tensor, "sets members"],
    sets: Int[Tensor, "sets members"],
    *,
    targets: Targets,
    odd_logits: Float[Tensor, "pool classes"] | None = None,
    odd_weight: Number = 1.0,
) -> Float[Tensor, " sets"]:
    """Losses of sets that are known to be whole, as a training loop draws them.

    Args:
        logits: Logits of a pool of examples.
        members: Class of every member of each set.
        sets: Rows of positions into the pool.
        targets: ``"hard"`` or ``"soft"``.
        odd_logits: Logits of the odd-class head.
        odd_weight: Weight of its loss.
    """
    losses = _naming_loss(unchecked_set_sum(logits, sets), members, targets)
    if odd_logits is None:
        return losses
    return losses + odd_weight * _naming_loss(unchecked_set_sum(odd_logits, sets), members, "odd")


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
    cross_entropy = _naming_loss(_at_least_float32(logits), labels[:, None], "soft")
    # 1 - exp(-x) without cancellation; kept off 0, where a root (gamma < 1) has no derivative.
    missing = -torch.expm1(-cross_entropy)
    missing = missing.clamp_min(torch.finfo(missing.dtype).tiny)
    loss = missing**gamma * cross_entropy
    if weight is None:
        return _reduced(loss, reduction)
    weight = _checked_weight(weight, logits)[labels]
    if reduction == "mean":
        return (weight * loss).sum() / weight.sum()
    return _reduced(weight * loss, reduction)


def weighted_cross_entropy(
    logits: Tensor,
    labels: Tensor,
    *,
    weight: Tensor,
    reduction: Reduction = "mean",
) -> Float[Tensor, "*examples"]:
    """Cross-entropy re-weighted by class, as in the paper: a plain mean over the batch.

    PyTorch's own weighted mean divides by the weights that happen to be in the batch, so that a
    batch of one class is not weighted at all; this one does not, which keeps its expectation
    that of batch-balancing.

    Args:
        logits: Logits, of shape (examples, classes).
        labels: True classes.
        weight: Weight of each class, e.g. ``class_weights`` of the training labels.
        reduction: ``"mean"``, ``"sum"``, or ``"none"`` for one loss per example.
    """
    labels = classification(logits, labels)
    cross_entropy = _naming_loss(_at_least_float32(logits), labels[:, None], "soft")
    return _reduced(_checked_weight(weight, logits)[labels] * cross_entropy, reduction)


def class_weights(labels: Labels, *, classes: int) -> Float[Tensor, " {classes}"]:
    """Inverse class frequencies, scaled to mean 1 over the examples; 0 for a class without any.

    Args:
        labels: Class of every training example, in ``0 .. classes - 1``.
        classes: Number of classes.

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


def _naming_loss(
    logits: Float[Tensor, "rows classes"],
    members: Int[Tensor, "rows members"],
    named: Literal["hard", "soft", "odd"],
) -> Float[Tensor, " rows"]:
    """Cross-entropy of each row of logits, averaged over the members that are to be named."""
    return -F.log_softmax(logits, dim=1).gather(1, members[:, _NAMED[named]]).mean(dim=1)


def _checked_members(
    labels: Int[Tensor, " pool"], sets: Int[Tensor, "sets members"], *, k: int | None = None
) -> Int[Tensor, "sets members"]:
    """Classes of the members of each set, or raise unless they are one pair and k odd ones."""
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


def _checked_weight(weight: Tensor, logits: Tensor) -> Tensor:
    """Return the weights on the device of the logits, or raise unless there is one per class."""
    if weight.shape != logits.shape[1:]:
        raise ValueError(
            f"weight must hold one number per class, {logits.shape[1]}, got shape "
            f"{tuple(weight.shape)}; class_weights(labels, classes={logits.shape[1]}) gives them"
        )
    return weight.to(logits.device, torch.promote_types(logits.dtype, torch.float32))


def _at_least_float32(logits: Tensor) -> Tensor:
    """Half-precision logits as float32, so that a loss keeps its digits under autocast."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def _reduced(losses: Float[Tensor, " rows"], reduction: Reduction) -> Float[Tensor, "*rows"]:
    """Losses as ``reduction`` says, in PyTorch's words."""
    one_of("reduction", reduction, get_args(Reduction))
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()
