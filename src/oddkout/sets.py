"""Odd-k-out sets: draw rows of example indices by class, and sum logits over them."""

from typing import Literal, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Labels, at_least, class_labels, finite_logits, one_of
from oddkout.draws import at, below, distinct_below, shuffled

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
        pair = at(self._pair_classes, below(len(self._pair_classes), (sets, 1), generator))
        others = torch.tensor([len(self.classes) - 1]).expand(sets)
        odd = shuffled(distinct_below(others, k, generator), generator)
        odd += odd >= pair  # skip the pair class
        drawn = torch.cat([pair, odd], dim=1)

        counts = at(self.counts, drawn)
        member = below(counts, drawn.shape, generator)
        # The partner follows 1 .. count - 1 positions after the first member, cyclically.
        step = 1 + below(counts[:, :1] - 1, (sets, 1), generator)
        partner = (member[:, :1] + step) % counts[:, :1]

        starts = at(self._starts, drawn)
        return at(self._by_class, torch.cat([starts[:, :1] + partner, starts + member], dim=1))

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
            drawn = distinct_below(torch.tensor([len(drawn)]), pool_classes, generator)[0]
        return self._distinct_examples(drawn, per_class, generator)

    def draw_pools(
        self, *, pools: int, examples: int, generator: torch.Generator | None = None
    ) -> tuple[Int[Tensor, "{pools} {examples}"], Int[Tensor, " {examples}"]]:
        """Draw pools of exactly ``examples`` examples each, as balanced as the classes allow.

        With at least two examples for each class, every pool holds all classes: each class gives
        the same number, a few random classes give one more, and a smaller class gives all it has.
        With fewer, every pool holds ``examples // 2`` random classes with two examples each (the
        last one three, if ``examples`` is odd). A class too small for that repeats its examples.

        All pools have the same layout, so that sets can be drawn for all of them at once.

        Args:
            pools: Number of pools.
            examples: Number of examples in a pool, from 2 to all of them.
            generator: Source of randomness; torch's global one if not given.

        Returns:
            The examples of each pool, and for each position of a pool the number of its class
            within the pool, from 0.

        Example:
            >>> index = ClassIndex([0, 0, 0, 0, 1, 1, 2, 2])
            >>> drawn, slots = index.draw_pools(pools=5, examples=7)
            >>> drawn.shape, slots.bincount().tolist()
            (torch.Size([5, 7]), [3, 2, 2])
        """
        at_least("pools", pools, 1)
        at_least("examples", examples, 2)
        classes = len(self.classes)
        if 2 * classes <= examples:
            if examples > len(self):
                raise ValueError(
                    f"a pool holds at most all {len(self)} examples, got examples={examples}"
                )
            shares = self._shares(examples, generator)
            drawn = torch.arange(classes).expand(pools, -1)
        else:
            shares = torch.full((examples // 2,), 2)
            shares[-1] += examples % 2
            chosen = distinct_below(torch.tensor([classes]).expand(pools), len(shares), generator)
            drawn = shuffled(chosen, generator)
        drawn_slots, positions = [], []
        for share in sorted(set(shares.tolist())):
            slots = (shares == share).nonzero().flatten()
            owners = drawn[:, slots].flatten()
            size = at(self.counts, owners)
            member = distinct_below(size, share, generator)
            if (member < 0).any():  # a class too small for its share repeats examples
                again = below(size[:, None], tuple(member.shape), generator)
                member = torch.where(member < 0, again, member)
            members = at(self._by_class, at(self._starts, owners)[:, None] + member)
            positions.append(members.view(pools, -1))
            drawn_slots.append(slots.repeat_interleave(share))
        slot_of, order = torch.cat(drawn_slots).sort(stable=True)
        return torch.cat(positions, dim=1)[:, order], slot_of

    def _shares(self, examples: int, generator: torch.Generator | None) -> Int[Tensor, " classes"]:
        """Number of examples that each class gives to a pool of all classes."""
        level = 1
        while self.counts.clamp(max=level + 1).sum() <= examples:
            level += 1
            if level >= int(self.counts.max()):
                break
        shares = self.counts.clamp(max=level)
        rest = examples - int(shares.sum())
        larger = (self.counts > level).nonzero().flatten()
        if rest:
            order = torch.rand(len(larger), generator=generator).argsort()
            shares[larger[order[:rest]]] += 1
        return shares

    def draw_examples(
        self, *, examples: int, generator: torch.Generator | None = None
    ) -> Int[Tensor, " examples"]:
        """Draw example indices by the paper's batch-balancing (Algorithm 2).

        Each draw picks a class and then one of its examples, both with replacement. Without a
        ``generator``, torch's global one is used.
        """
        at_least("examples", examples, 1)
        drawn = below(len(self.classes), (examples,), generator)
        member = below(at(self.counts, drawn), (examples,), generator)
        return at(self._by_class, at(self._starts, drawn) + member)

    def members(
        self, classes: Int[Tensor, " rows"], numbers: Int[Tensor, "rows members"]
    ) -> Int[Tensor, "rows members"]:
        """Indices of examples, by the position of their class and their number within it."""
        return at(self._by_class, at(self._starts, classes)[:, None] + numbers)

    def _distinct_examples(
        self, drawn: Int[Tensor, " classes"], per_class: int, generator: torch.Generator | None
    ) -> Int[Tensor, " pool"]:
        """Distinct examples of each drawn class; a class smaller than ``per_class`` gives all."""
        member = distinct_below(at(self.counts, drawn), per_class, generator)
        positions = at(self._starts, drawn)[:, None] + member
        return at(self._by_class, positions[member >= 0])


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
