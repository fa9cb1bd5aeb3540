"""The odd-k-out loss, a drop-in replacement for cross-entropy in any training loop."""

from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from oddkout.checks import Number, Prior, at_least, classification, frequencies, one_of
from oddkout.losses.reduction import Reduction, reduced
from oddkout.losses.set_loss import Targets, checked_members, unchecked_set_losses
from oddkout.pairs import natural_sets
from oddkout.sets import ClassIndex, Singletons, checked_sets

Layout = Literal["pool", "paper"]


class OddKOutLoss(nn.Module):
    """Odd-k-out loss for any training loop.

    In the pool layout, the sets are drawn from the batch; use ``ClassBalancedBatchSampler``. Any
    number of sets and any k cost as much as cross-entropy on the batch. In the paper layout, the
    batch is read set by set; use ``OddKOutBatchSampler``. In both layouts the model sees an
    ordinary batch and needs no change for inference.

    With a ``prior``, odd-k-out learning uses natural class frequencies; use
    ``PairedBatchSampler``. Classes form pairs as often as they occur in the batch, and the log
    prior of the classes is added to the summed logits of each set. So the model need not learn the
    prior, and its logits are for equally frequent classes.

    Args:
        k: Number of odd classes in a set.
        targets: ``"hard"`` or ``"soft"``, see ``set_loss``.
        sets: Number of sets to draw from a pool; twice its number of examples if not given.
        layout: ``"pool"`` or ``"paper"``.
        odd_weight: Weight of the odd-class loss, which is added if ``odd_logits`` are given. It may
            change between steps.
        singletons: How to treat classes that occur once in a pool, see ``ClassIndex``.
        prior: Class frequencies of the pairs, such as ``PairedBatchSampler.prior``; if not given,
            classes form pairs equally often.
        reduction: ``"mean"``, ``"sum"``, or ``"none"`` for one loss per set.
        generator: Source of randomness, on the CPU; torch's global one if not given.

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
        prior: Prior = None,
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
        shares = None if prior is None else frequencies("prior", prior)
        if shares is not None and layout == "paper":
            raise ValueError(
                "layout='paper' draws its pair classes equally often and needs no prior; leave the "
                "prior out, or use PairedBatchSampler with layout='pool'"
            )
        self.log_prior: Tensor | None
        self.register_buffer("log_prior", None if shares is None else shares.log())
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
                ``with_odd_head`` returns in training mode.
            labels: Class of each row.
            odd_logits: Logits of the odd-class head; their loss is the mean over the odd classes.
            sets: Rows of positions in the batch, to use instead of drawing sets.
        """
        if isinstance(logits, tuple):
            logits, odd_logits = logits
        labels = classification(logits, labels)
        if self.log_prior is not None and len(self.log_prior) != logits.shape[1]:
            raise ValueError(
                f"prior must hold one frequency per class, {logits.shape[1]}, got "
                f"{len(self.log_prior)}; pass class_frequencies(labels, classes=...)"
            )
        if sets is None and self.layout == "pool":
            sets = self._drawn_sets(labels)
            members = labels[sets]
        else:
            sets = self._rows_as_sets(labels) if sets is None else sets
            members = checked_members(labels, checked_sets(sets, examples=len(logits)), k=self.k)
        if odd_logits is not None:
            if self.k == 0:
                raise ValueError("odd_logits need an odd class to predict, but k=0; omit them")
            classification(odd_logits, labels)
        losses = unchecked_set_losses(
            logits,
            members,
            sets,
            targets=self.targets,
            odd_logits=odd_logits,
            odd_weight=self.odd_weight,
            offset=self.log_prior,
        )
        return reduced(losses, self.reduction)

    def extra_repr(self) -> str:
        """Show the arguments when PyTorch prints the module."""
        names = ("k", "targets", "sets", "layout", "odd_weight", "singletons", "reduction")
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)

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
        """Draw sets from the pool."""
        count = self.sets or 2 * len(labels)
        if self.log_prior is not None:
            sets = natural_sets(labels.cpu(), k=self.k, sets=count, generator=self.generator)
            return sets.to(labels.device)
        try:
            index = ClassIndex(labels, singletons=self.singletons)
            sets = index.draw_sets(k=self.k, sets=count, generator=self.generator)
        except ValueError as error:
            raise ValueError(
                f"no sets can be drawn from this batch of {len(labels)} examples: {error}; use "
                f"ClassBalancedBatchSampler with classes_per_batch >= {self.k + 1} and "
                "examples_per_class >= 2"
            ) from None
        return sets.to(labels.device)
