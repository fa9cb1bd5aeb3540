"""What a check of a loader found, and what to do about it."""

from dataclasses import dataclass
from typing import Literal

from oddkout.losses.odd_k_out import Layout

Evidence = Literal["indices", "contents"]

_LEVEL = 1e-3  # how often a sound loader is accused of uneven classes


@dataclass(frozen=True, kw_only=True)
class LoaderReport:
    """What ``check_loader`` saw, the same on every rank; ``print`` shows it.

    Attributes:
        layout: How batches were read: as pools, or set by set.
        k: Number of odd classes in a set.
        batches: Number of batches that each rank got in each of the epochs.
        units: Number of sets (paper layout) or pools (pool layout) seen.
        broken: Number of these that are none.
        first_broken: Where the first of them was, and what it held.
        shared_by_ranks: Largest share of a rank's batches that another rank got in the same epoch.
        shared_by_epochs: Largest share of an epoch's batches that came in another epoch, on any
            rank.
        p_value: How often uniform draws of classes would come out as uneven as these, in the most
            uneven epoch of a rank; corrected for having looked at all of them.
        draws: Fewest and most draws of a class in that epoch, and how many were expected.
        evidence: How batches were told apart. Random augmentation changes the contents, so that
            only indices can tell an example that was drawn twice.
    """

    layout: Layout
    k: int
    batches: list[list[int]]
    units: int
    broken: int
    first_broken: str
    shared_by_ranks: float
    shared_by_epochs: float
    p_value: float
    draws: tuple[float, float, float]
    evidence: Evidence

    @property
    def is_whole(self) -> bool:
        """Every set is one pair and k odd members, or every batch a balanced pool."""
        return self.broken == 0

    @property
    def is_even(self) -> bool:
        """All ranks get the same number of batches; otherwise some would wait for ever."""
        return len({tuple(of_rank) for of_rank in self.batches}) == 1

    @property
    def ranks_differ(self) -> bool:
        """No rank repeats most of another's batches."""
        return self.shared_by_ranks <= 0.5

    @property
    def epochs_differ(self) -> bool:
        """No epoch repeats most of another's batches."""
        return self.shared_by_epochs <= 0.5

    @property
    def is_uniform(self) -> bool:
        """Classes come as evenly as uniform draws do, on every rank."""
        return self.p_value > _LEVEL

    @property
    def is_sound(self) -> bool:
        """All of the above."""
        return not self.problems

    @property
    def problems(self) -> list[str]:
        """What is wrong, and what to do about it, one sentence each."""
        low, high, expected = self.draws
        sets = "sets" if self.layout == "paper" else "pools"
        found = {
            f"{self.broken} of {self.units} {sets} are broken, first {self.first_broken}; pass "
            f"{self._sampler} as batch_sampler and let nothing split, stride or regroup its "
            "batches": self.is_whole,
            f"ranks get {self.batches} batches and would wait for each other; give all of them as "
            "many": self.is_even,
            f"ranks share {self.shared_by_ranks:.0%} of their batches in one epoch; give the "
            "sampler its num_replicas and rank, or let the stack do so": self.ranks_differ,
            f"epochs share {self.shared_by_epochs:.0%} of their batches; call set_epoch before "
            "every epoch (and pass it to the check as before_epoch)": self.epochs_differ,
            f"classes are not drawn uniformly (p = {self.p_value:.1g}): in one epoch of a rank "
            f"one came {low:g} times and one {high:g} times, where {expected:g} were expected; "
            "draw classes first and then their examples, on every rank from all classes": (
                self.is_uniform
            ),
        }
        return [problem for problem, is_fine in found.items() if not is_fine]

    def raise_if_broken(self) -> None:
        """Raise ``ValueError`` with all that is wrong, if anything is."""
        if self.problems:
            raise ValueError(
                "batches do not arrive as they were drawn: " + "; and ".join(self.problems)
            )

    @property
    def _sampler(self) -> str:
        return "OddKOutBatchSampler" if self.layout == "paper" else "ClassBalancedBatchSampler"

    def __str__(self) -> str:
        low, high, expected = self.draws
        ranks = len(self.batches)
        what = f"sets of {self.k + 2}" if self.layout == "paper" else f"pools for k={self.k}"
        told = f"batches told apart by their {self.evidence}"
        lines = [
            ("whole", self.is_whole, f"{self.units - self.broken:,} of {self.units:,} {what}"),
            ("ranks even", self.is_even, f"batches of {ranks} rank(s): {self.batches}"),
            ("ranks differ", self.ranks_differ, f"{self.shared_by_ranks:.0%} shared, {told}"),
            ("epochs differ", self.epochs_differ, f"{self.shared_by_epochs:.0%} shared, {told}"),
            (
                "classes uniform",
                self.is_uniform,
                f"{low:g} to {high:g} draws, {expected:g} expected, p = {self.p_value:.2g}",
            ),
        ]
        shown = [f"{name:<16} {'yes' if fine else 'NO':<4} {text}" for name, fine, text in lines]
        return "\n".join(shown + self.problems)
