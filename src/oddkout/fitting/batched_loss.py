"""The loss of several networks that are trained at once, and its gradient by their logits."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.fitting.loss_slopes import cross_entropy_slope, set_slope
from oddkout.fitting.methods import Method
from oddkout.fitting.objective import Objective
from oddkout.fitting.update_loss import update_loss
from oddkout.randomness import keyed_generator

# Logits of all networks, and those of their second heads, if they have one.
Outputs = tuple[Float[Tensor, "members batch classes"], Tensor | None]


class BatchedLoss:
    """The mean loss of all networks.

    Args:
        objectives: The objective of each network, all of the same method.
        classes: Number of classes.
        seed: Seed of random labels for a second head.
    """

    def __init__(self, objectives: Sequence[Objective], *, classes: int, seed: int) -> None:
        self._method: Method = objectives[0].method
        self._members = torch.arange(len(objectives))[:, None]
        self._classes, self._seed = classes, seed
        self._weights = _stacked([objective.weight for objective in objectives])
        self._offsets = _stacked([objective.offset for objective in objectives])
        is_plain = self._weights is None and self._offsets is None and not self._method.smoothing
        self._is_closed = self._method.head == "none" and (
            self._method.targets == "hard"
            if self._method.loss == "sets"
            else self._method.loss == "cross-entropy" and is_plain
        )
        self._columns: Tensor | None = None

    def value(
        self,
        outputs: Outputs,
        labels: Int[Tensor, "members batch"],
        sets: Int[Tensor, "sets size"] | None,
        *,
        update: int,
        head_weight: float,
    ) -> Float[Tensor, ""]:
        """The mean loss of an update.

        Args:
            outputs: Logits of the batches.
            labels: Their classes.
            sets: Sets as positions in the joined batches, for methods that use sets.
            update: Number of the update, from 0.
            head_weight: Weight of the loss of the second heads.
        """
        logits, second = (None if part is None else part.flatten(0, 1) for part in outputs)
        assert logits is not None, "only second heads may be absent"
        weights, offsets = self._weights, self._offsets
        rows = labels.shape[1] if sets is None else len(sets) // len(labels)
        return update_loss(
            self._method,
            logits if second is None else (logits, second),
            labels.flatten(),
            sets,
            head_weight=head_weight,
            weight=None if weights is None else weights[self._members, labels].flatten(),
            offset=None if offsets is None else offsets.repeat_interleave(rows, dim=0),
            noise=self._noise(labels, update),
        )

    def slopes(
        self,
        outputs: Outputs,
        labels: Int[Tensor, "members batch"],
        sets: Int[Tensor, "sets size"] | None,
        *,
        update: int,
        head_weight: float,
    ) -> Outputs:
        """Gradients by the outputs; each network has that of its own mean loss.

        The arguments are those of ``value``. A second head without effect has None.
        """
        logits, scale = outputs[0], float(len(labels))
        if not self._is_closed:
            first, second = (None if p is None else p.detach().requires_grad_() for p in outputs)
            assert first is not None, "only second heads may be absent"
            heads = [first] if second is None else [first, second]
            with torch.enable_grad():
                loss = self.value(
                    (first, second), labels, sets, update=update, head_weight=head_weight
                )
                own, *others = torch.autograd.grad(loss * scale, heads, allow_unused=True)
            return own, others[0] if others else None
        pool, classes = logits.flatten(0, 1), labels.flatten()
        if sets is None:
            slope = cross_entropy_slope(pool, classes, scale=scale)
        else:
            columns = self._offset_columns(len(sets))
            slope = set_slope(pool, classes, sets, offset=columns, scale=scale)
        return slope.view_as(logits), None

    def _offset_columns(self, sets: int) -> Float[Tensor, "classes sets"] | None:
        """The offsets of all sets of an update, which are the same in all of them."""
        if self._offsets is not None and (self._columns is None or self._columns.shape[1] != sets):
            each = self._offsets.repeat_interleave(sets // len(self._offsets), dim=0)
            self._columns = each.T.contiguous()
        return self._columns

    def _noise(
        self, labels: Int[Tensor, "members batch"], update: int
    ) -> Int[Tensor, " all"] | None:
        """Random labels for the second head of the control."""
        if self._method.head != "noise":
            return None
        generator = keyed_generator(self._seed, 2, update)
        return torch.randint(self._classes, (labels.numel(),), generator=generator)


def _stacked(values: Sequence[Tensor | None]) -> Float[Tensor, "members classes"] | None:
    """One row for each network; None if there is nothing to stack."""
    given = [value.float() for value in values if value is not None]
    return torch.stack(given) if given else None
