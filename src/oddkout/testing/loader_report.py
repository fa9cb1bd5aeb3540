"""The result of ``check_loader``: what is wrong with a loader, and how to fix it."""

from dataclasses import dataclass
from typing import Literal

from oddkout.losses.odd_k_out import Layout

BatchEvidence = Literal["indices", "contents"]

_LEVEL = 1e-3  # significance level of the test for uniform classes


@dataclass(frozen=True, kw_only=True)
class LoaderReport:
    """The result of ``check_loader``, the same on every rank; ``print`` shows it.

    Attributes:
        layout: How batches were read: as pools, or set by set.
        k: Number of odd classes in a set.
        batches: Number of batches that each rank received in each epoch.
        units: Number of sets (paper layout) or pools (pool layout) read.
        broken: Number of invalid sets or pools.
        first_broken: Position and classes of the first invalid one.
        shared_by_ranks: Largest share of batches that two ranks have in common in one epoch.
        shared_by_epochs: Largest share of batches that two epochs have in common, on any ranks.
        p_value: P-value of the test that classes are drawn uniformly, for the least uniform epoch
            of any rank, with Bonferroni correction.
        draws: Lowest, highest and expected number of draws of a class in that epoch.
        evidence: What batches were compared by. Random augmentation changes the contents, so only
            indices can reveal a repeated example.
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
    evidence: BatchEvidence

    @property
    def is_whole(self) -> bool:
        """Every set is one pair and k odd members, or every batch is a balanced pool."""
        return self.broken == 0

    @property
    def is_even(self) -> bool:
        """All ranks get the same number of batches; otherwise some would wait forever."""
        return len({tuple(of_rank) for of_rank in self.batches}) == 1

    @property
    def ranks_differ(self) -> bool:
        """No two ranks share more than half of their batches."""
        return self.shared_by_ranks <= 0.5

    @property
    def epochs_differ(self) -> bool:
        """No two epochs share more than half of their batches."""
        return self.shared_by_epochs <= 0.5

    @property
    def is_uniform(self) -> bool:
        """No evidence, on any rank, that classes are not drawn uniformly."""
        return self.p_value > _LEVEL

    @property
    def is_sound(self) -> bool:
        """All of the above."""
        return not self.problems

    @property
    def problems(self) -> list[str]:
        """What is wrong and how to fix it, one sentence each."""
        low, high, expected = self.draws
        sets = "sets" if self.layout == "paper" else "pools"
        checks = {
            f"{self.broken} of {self.units} {sets} are broken, first {self.first_broken}; pass "
            f"{self._sampler} as batch_sampler and let nothing split, stride or regroup its "
            "batches": self.is_whole,
            f"ranks get {self.batches} batches and would wait for each other; give all ranks the "
            "same number": self.is_even,
            f"ranks share {self.shared_by_ranks:.0%} of their batches in one epoch; give the "
            "sampler its num_replicas and rank, or let the stack do so": self.ranks_differ,
            f"epochs share {self.shared_by_epochs:.0%} of their batches; call set_epoch before "
            "every epoch (and pass it to the check as before_epoch)": self.epochs_differ,
            f"classes are not drawn uniformly (p = {self.p_value:.1g}): in one epoch of a rank "
            f"one class came {low:g} times and one {high:g} times, where {expected:g} were "
            "expected; draw classes first and then their examples, from all classes on every "
            "rank": self.is_uniform,
        }
        return [problem for problem, is_fine in checks.items() if not is_fine]

    def raise_if_broken(self) -> None:
        """Raise ``ValueError`` with all problems, if there are any."""
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
        units = f"sets of {self.k + 2}" if self.layout == "paper" else f"pools for k={self.k}"
        by = f"batches compared by {self.evidence}"
        lines = [
            ("whole", self.is_whole, f"{self.units - self.broken:,} of {self.units:,} {units}"),
            ("ranks even", self.is_even, f"batches of {ranks} rank(s): {self.batches}"),
            ("ranks differ", self.ranks_differ, f"{self.shared_by_ranks:.0%} shared, {by}"),
            ("epochs differ", self.epochs_differ, f"{self.shared_by_epochs:.0%} shared, {by}"),
            (
                "classes uniform",
                self.is_uniform,
                f"{low:g} to {high:g} draws, {expected:g} expected, p = {self.p_value:.2g}",
            ),
        ]
        rows = [f"{name:<16} {'yes' if fine else 'NO':<4} {text}" for name, fine, text in lines]
        return "\n".join(rows + self.problems)
