"""The odd-k-out criterion, a drop-in for cross-entropy in any training loop."""

from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from oddkout.checks import Number, at_least, classification, one_of
from oddkout.losses.reduction import Reduction, reduced
from oddkout.losses.set_loss import Targets, checked_members, unchecked_set_losses
from oddkout.sets import ClassIndex, Singletons, checked_sets

Layout = Literal["pool", "paper"]


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
            members = checked_members(labels, checked_sets(sets, examples=len(logits)), k=self.k)
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
        return reduced(losses, self.reduction)

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
