"""Odd-k-out sets: draw rows of example indices by class, and sum logits over them."""

from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Labels, at_least, class_labels, finite_logits, one_of

Singletons = Literal["error", "odd-only", "repeat"]


class ClassIndex:
    """The examples of each class, indexed once and then drawn from.

    Every draw picks classes uniformly, whatever their frequency, and then examples uniformly within
    their class. This balances a long-tailed data set.

    Args:
        labels: Class of each example, in the order of the data set: a list, array or tensor of
            integers, or a data set with ``targets``.
        singletons: How to treat classes with one example, which cannot form a pair: ``"error"``
            raises and names them, ``"odd-only"`` never draws them as the pair class, ``"repeat"``
            pairs their example with itself.

    Attributes:
        classes: The distinct labels, ascending.
        counts: Number of examples of each of ``classes``.

    Example:
        >>> index = ClassIndex([7, 7, 7, 7, 2, 2, 5, 5])
        >>> index.classes.tolist(), index.counts.tolist()
        ([2, 5, 7], [2, 2, 4])
    """

    classes: Int[Tensor, " classes"]
    counts: Int[Tensor, " classes"]

    def __init__(self, labels: Labels, *, singletons: Singletons = "error") -> None:
        labels = class_labels(labels).cpu()
        one_of("singletons", singletons, get_args(Singletons))
        self._by_class: Tensor  # class c fills one contiguous run ...
        ordered, self._by_class = labels.sort(stable=True)
        self.classes, self.counts = torch.unique_consecutive(ordered, return_counts=True)
        self._starts = self.counts.cumsum(0) - self.counts  # ... which starts here

        can_pair = self.counts >= (1 if singletons == "repeat" else 2)
        self._pair_classes = can_pair.nonzero().flatten()
        if singletons == "error" and not can_pair.all():
            lonely = self.classes[~can_pair].tolist()
            raise ValueError(
                f"a set draws 2 different examples of its pair class, but classes {lonely} hold "
                "only 1; drop these classes, give them more examples, or pass "
                "singletons='odd-only' or 'repeat'"
            )

    def __len__(self) -> int:
        return len(self._by_class)

    def draw_sets(
        self, *, k: int, sets: int, generator: torch.Generator | None = None
    ) -> Int[Tensor, "sets members"]:
        """Draw sets of example indices by Algorithm 1 of the paper.

        Columns 0 and 1 are two different examples of the pair class, columns 2 .. k + 1 one
        example each of k distinct other classes. The cost depends on ``sets`` and ``k`` only.

        Args:
            k: Number of odd classes in a set, from 0 to the number of classes minus 1.
            sets: Number of sets.
            generator: Source of randomness; torch's global one if not given.

        Example:
            >>> labels = torch.tensor([7, 7, 7, 7, 2, 2, 5, 5])
            >>> generator = torch.Generator().manual_seed(0)
            >>> sets = ClassIndex(labels).draw_sets(k=1, sets=100, generator=generator)
            >>> pair, partner, odd = labels[sets].T
            >>> bool((pair == partner).all()), bool((pair == odd).any())
            (True, False)
        """
        at_least("k", k, 0)
        at_least("sets", sets, 1)
        if len(self.classes) < k + 1:
            raise ValueError(
                f"a set with k={k} odd classes needs {k + 1} classes, but the labels hold "
                f"{len(self.classes)}; lower k to {len(self.classes) - 1} or less"
            )
        if len(self._pair_classes) == 0:
            raise ValueError(
                f"a set needs a pair of one class, but each of the {len(self.classes)} classes "
                "occurs only once; give at least one class a second example"
            )
        pair = _at(self._pair_classes, _below(len(self._pair_classes), (sets, 1), generator))
        others = torch.tensor([len(self.classes) - 1]).expand(sets)
        odd = _shuffled(_distinct_below(others, k, generator), generator)
        odd += odd >= pair  # skip the pair class
        drawn = torch.cat([pair, odd], dim=1)

        counts = _at(self.counts, drawn)
        member = _below(counts, drawn.shape, generator)
        # The partner follows 1 .. count - 1 positions after the first member, cyclically.
        step = 1 + _below(counts[:, :1] - 1, (sets, 1), generator)
        partner = (member[:, :1] + step) % counts[:, :1]

        starts = _at(self._starts, drawn)
        return _at(self._by_class, torch.cat([starts[:, :1] + partner, starts + member], dim=1))

    def draw_balanced(
        self,
        *,
        per_class: int,
        classes: int | None = None,
        generator: torch.Generator | None = None,
    ) -> Int[Tensor, " pool"]:
        """Draw a pool: distinct classes, and distinct examples of each, class by class.

        A single set drawn from such a pool has the same distribution as one drawn from all data.
        With ``singletons="odd-only"`` this holds only for pools of all classes: in smaller pools
        the singletons are drawn more often.

        Args:
            per_class: Number of examples of each class; a smaller class gives all it has.
            classes: Number of classes; all if not given.
            generator: Source of randomness; torch's global one if not given.

        Example:
            >>> index = ClassIndex([0, 0, 0, 0, 1, 1, 2, 2])
            >>> pool = index.draw_balanced(per_class=3)
            >>> len(pool), len(pool.unique())
            (7, 7)
        """
        at_least("per_class", per_class, 1)
        pool_classes = len(self.classes) if classes is None else at_least("classes", classes, 1)
        if pool_classes > len(self.classes):
            raise ValueError(
                f"a pool of {pool_classes} distinct classes needs as many, but the labels hold "
                f"{len(self.classes)}; lower classes to {len(self.classes)} or less"
            )
        drawn = torch.arange(len(self.classes))
        if pool_classes < len(drawn):
            drawn = _distinct_below(torch.tensor([len(drawn)]), pool_classes, generator)[0]
        return self._distinct_examples(drawn, per_class, generator)

    def draw_pools(
        self, *, pools: int, per_class: int, generator: torch.Generator | None = None
    ) -> Int[Tensor, "{pools} pool"]:
        """Draw several pools of all classes at once; see ``draw_balanced``.

        Args:
            pools: Number of pools.
            per_class: Number of examples of each class; a smaller class gives all it has.
            generator: Source of randomness; torch's global one if not given.

        Example:
            >>> index = ClassIndex([0, 0, 0, 0, 1, 1, 2, 2])
            >>> index.draw_pools(pools=5, per_class=3).shape
            torch.Size([5, 7])
        """
        at_least("pools", pools, 1)
        at_least("per_class", per_class, 1)
        drawn = torch.arange(len(self.classes)).repeat(pools)
        return self._distinct_examples(drawn, per_class, generator).view(pools, -1)

    def draw_examples(
        self, *, examples: int, generator: torch.Generator | None = None
    ) -> Int[Tensor, " examples"]:
        """Draw example indices by the paper's batch-balancing (Algorithm 2).

        Each draw picks a class and then one of its examples, both with replacement. Without a
        ``generator``, torch's global one is used.
        """
        at_least("examples", examples, 1)
        drawn = _below(len(self.classes), (examples,), generator)
        member = _below(_at(self.counts, drawn), (examples,), generator)
        return _at(self._by_class, _at(self._starts, drawn) + member)

    def _distinct_examples(
        self, drawn: Int[Tensor, " classes"], per_class: int, generator: torch.Generator | None
    ) -> Int[Tensor, " pool"]:
        """Distinct examples of each drawn class; a class smaller than ``per_class`` gives all."""
        member = _distinct_below(_at(self.counts, drawn), per_class, generator)
        positions = _at(self._starts, drawn)[:, None] + member
        return _at(self._by_class, positions[member >= 0])


def set_sum(logits: Tensor, sets: Tensor) -> Float[Tensor, "sets classes"]:
    """Sum the logits of the members of each set, at least in float32.

    Args:
        logits: Logits of a pool of examples, of shape (examples, classes).
        sets: Rows of positions into the pool, of shape (sets, members).

    Example:
        >>> logits = torch.tensor([[1.0, 0.0], [2.0, 0.0], [0.0, 5.0]])
        >>> set_sum(logits, torch.tensor([[0, 1, 2]]))
        tensor([[3., 5.]])
    """
    finite_logits(logits)
    checked_sets(sets, examples=len(logits))
    return unchecked_set_sum(logits, sets)


def unchecked_set_sum(
    logits: Float[Tensor, "examples classes"], sets: Int[Tensor, "sets members"]
) -> Float[Tensor, "sets classes"]:
    """``set_sum`` without checks of its arguments."""
    # bfloat16 has 8 significant bits, so sum in float32. Indexing, unlike index_add, has a
    # deterministic backward pass on every device.
    return logits.to(torch.promote_types(logits.dtype, torch.float32))[sets].sum(dim=1)


def checked_sets(sets: Tensor, *, examples: int) -> Int[Tensor, "sets members"]:
    """Return ``sets``, or raise unless they are rows of positions in ``0 .. examples - 1``."""
    if sets.ndim != 2 or len(sets) == 0 or sets.is_floating_point():
        raise ValueError(
            "sets must be integers of shape (sets, members), at least one set, got "
            f"{sets.dtype} of shape {tuple(sets.shape)}; draw them with ClassIndex.draw_sets"
        )
    low, high = sets.aminmax()
    if low < 0 or high >= examples:
        raise ValueError(
            f"sets must point into the pool, 0 .. {examples - 1}, got positions {int(low)} .. "
            f"{int(high)}; sets are positions among the rows of logits, not in the data set"
        )
    return sets


def _at(values: Int[Tensor, " values"], positions: Int[Tensor, "..."]) -> Int[Tensor, "..."]:
    """``values[positions]``, but several times as fast if the values exceed the CPU's cache."""
    return values.index_select(0, positions.flatten()).view(positions.shape)


def _below(
    limit: int | Int[Tensor, "..."], shape: tuple[int, ...], generator: torch.Generator | None
) -> Int[Tensor, "..."]:
    """Draw integers uniformly from ``0 .. limit - 1``; ``limit`` may differ between entries."""
    return (torch.rand(shape, generator=generator, dtype=torch.float64) * limit).long()


def _distinct_below(
    limits: Int[Tensor, " rows"], count: int, generator: torch.Generator | None
) -> Int[Tensor, "rows {count}"]:
    """Draw ``count`` different integers below each limit, every subset equally likely.

    This is Floyd's algorithm (Bentley and Floyd, Communications of the ACM 30, 1987), for all rows
    at once. Entry i is drawn from 0 .. limit - count + i; if it was drawn before, that upper end
    replaces it. If a limit is below ``count``, the row is -1 entries and then all integers below
    the limit.
    """
    highest = (limits - count) + torch.arange(count)[:, None]
    drawn = _below((highest + 1).clamp_min(0), (count, len(limits)), generator)
    drawn.masked_fill_(highest < 0, -1)
    for entry in range(1, count):
        is_repeated = (drawn[:entry] == drawn[entry]).any(dim=0)
        drawn[entry] = torch.where(
            is_repeated & (highest[entry] >= 0), highest[entry], drawn[entry]
        )
    return drawn.T


def _shuffled(
    rows: Int[Tensor, "rows count"], generator: torch.Generator | None
) -> Int[Tensor, "rows count"]:
    """The entries of each row in random order."""
    if rows.shape[1] < 2:
        return rows
    keys = torch.rand(rows.shape, generator=generator, dtype=torch.float64)
    return rows.gather(1, keys.argsort(dim=1))
