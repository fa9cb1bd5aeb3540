"""Pairs across groups: two examples of one class that do not belong to the same patient."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from oddkout.checks import Labels, class_labels
from oddkout.draws import at, below


class Partners:
    """Finds partners of the same class in another group.

    Two visits of one patient share more than their class. A network that learns from such pairs
    learns to recognise the patient.

    Args:
        labels: Class of every example.
        groups: Group of every example.

    Example:
        >>> partners = Partners([0, 0, 0, 1], [5, 5, 6, 7])
        >>> partners.draw(torch.tensor([0, 1])).tolist()
        [2, 2]
        >>> partners.has_other.tolist()
        [True, True, True, False]
    """

    def __init__(self, labels: Labels, groups: Labels) -> None:
        self.labels, self.groups = class_labels(labels).cpu(), _codes(groups)
        if len(self.groups) != len(self.labels):
            raise ValueError(
                f"groups must name the group of each of the {len(self.labels)} examples, got "
                f"{len(self.groups)}"
            )
        # Examples ordered by class, then by group: both are contiguous.
        key = self.labels * (int(self.groups.max()) + 1) + self.groups
        self._order = key.argsort(stable=True)
        self._start, self._size = _runs(self.labels, self._order)
        self._group_start, self._group_size = _runs(key, self._order)

    @property
    def has_other(self) -> Bool[Tensor, " examples"]:
        """Whether the class of each example has a further group."""
        return self._size > self._group_size

    def draw(
        self, examples: Int[Tensor, " rows"], *, generator: torch.Generator | None = None
    ) -> Int[Tensor, " rows"]:
        """Draw a partner of each example: any example of its class in another group.

        An example without such a partner is returned itself.

        Args:
            examples: Positions of examples.
            generator: Source of randomness; torch's global one if not given.
        """
        size, own = at(self._size, examples), at(self._group_size, examples)
        start, own_start = at(self._start, examples), at(self._group_start, examples)
        number = below((size - own).clamp_min(1), tuple(examples.shape), generator)
        number = torch.where(start + number >= own_start, number + own, number)
        found = at(self._order, start + torch.where(size > own, number, 0))
        return torch.where(size > own, found, examples)

    def separate(
        self, sets: Int[Tensor, "sets members"], generator: torch.Generator | None = None
    ) -> Int[Tensor, " sets"]:
        """The second member of each set: another one if the first two are of one group.

        Args:
            sets: Positions of examples; the pair comes first.
            generator: Source of randomness; torch's global one if not given.
        """
        first, second = sets[:, 0], sets[:, 1]
        is_same = at(self.groups, first) == at(self.groups, second)
        other = self.draw(first, generator=generator)
        return torch.where(is_same & self.has_other[first], other, second)

    def separate_pools(
        self,
        pools: Int[Tensor, "pools examples"],
        *,
        generator: torch.Generator | None = None,
    ) -> Int[Tensor, "pools examples"]:
        """Pools in which every class that has several groups is present with at least two.

        If all examples of a class in a pool are of one group, its last one is replaced.

        Args:
            pools: Positions of the examples of each pool.
            generator: Source of randomness; torch's global one if not given.
        """
        labels, groups = at(self.labels, pools), at(self.groups, pools)
        is_mate = labels[:, :, None] == labels[:, None, :]
        is_other = is_mate & (groups[:, :, None] != groups[:, None, :])
        has_mate = is_mate.sum(dim=2) > 1
        later = torch.ones(pools.shape[1], pools.shape[1], dtype=torch.bool).triu(1)
        is_last = ~(is_mate & later).any(dim=2)
        is_replaced = is_last & has_mate & ~is_other.any(dim=2)
        separated = pools.clone()
        separated[is_replaced] = self.draw(pools[is_replaced], generator=generator)
        return separated

    def separate_sets(
        self,
        sets: Int[Tensor, "sets members"],
        pools: Int[Tensor, "sets examples"],
        *,
        generator: torch.Generator | None = None,
    ) -> Int[Tensor, "sets members"]:
        """Sets whose pairs are of different groups, where the pool has such a partner.

        Args:
            sets: Positions in the pool; the pair comes first.
            pools: For each set, the examples of its pool.
            generator: Source of randomness; torch's global one if not given.
        """
        labels, groups = at(self.labels, pools), at(self.groups, pools)
        first = sets[:, :1]
        is_other = (labels == labels.gather(1, first)) & (groups != groups.gather(1, first))
        is_same = groups.gather(1, first) == groups.gather(1, sets[:, 1:2])
        keys = torch.rand(pools.shape, generator=generator).masked_fill(~is_other, -1.0)
        best, partner = keys.max(dim=1)
        is_replaced = is_same[:, 0] & (best >= 0)
        separated = sets.clone()
        separated[is_replaced, 1] = partner[is_replaced]
        return separated


def _codes(groups: Labels) -> Int[Tensor, " examples"]:
    """Groups as numbers from 0."""
    given = class_labels(groups).cpu()
    codes: Int[Tensor, " examples"] = torch.unique(given, return_inverse=True)[1]
    return codes


def _runs(
    key: Int[Tensor, " examples"], order: Int[Tensor, " examples"]
) -> tuple[Int[Tensor, " examples"], Int[Tensor, " examples"]]:
    """For each example, where the run of its key starts in the order, and how long it is."""
    _, run, counts = torch.unique_consecutive(key[order], return_inverse=True, return_counts=True)
    starts = counts.cumsum(0) - counts
    start, size = torch.empty_like(key), torch.empty_like(key)
    start[order], size[order] = starts[run], counts[run]
    return start, size
