"""A claim of the paper about experiments, and its outcome."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from oddkout.checks import Number
from oddkout.comparing.statistics import Interval
from oddkout.paper.evidence import Evidence
from oddkout.paper.published import ACCURACY

Verdict = Literal["holds", "does not hold", "undecided", "no data"]

# Numbers for the words that the paper uses instead of numbers.
HARDLY = 0.01  # "hardly" more or less accurate
SLIGHTLY = 0.03  # "slightly" larger ECE
LITTLE = 1.2  # "little" more cost: ratio


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a claim.

    Attributes:
        verdict: Whether the claim holds.
        numbers: The numbers behind the verdict, in words.
        value: The number that decides: a difference, a ratio or a count.
        low: Lower limit of its 95 % confidence interval.
        high: Upper limit.
        seeds: Number of seeds.
    """

    verdict: Verdict
    numbers: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    seeds: int = 0


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of the paper about experiments.

    Attributes:
        name: A unique name; slashes separate its parts.
        statement: The claim in one sentence.
        where: Where the paper makes it.
        check: Returns the outcome for given evidence.
        published: The deciding number in the paper's own tables, if they have it.
        contradicted: Whether that number contradicts the statement.
        is_share: Whether that number is a share, to be written in per cent.
    """

    name: str
    statement: str
    where: str
    check: Callable[[Evidence], Outcome]
    published: float | None = None
    contradicted: bool = False
    is_share: bool = False

    @property
    def published_text(self) -> str:
        """The paper's number in words; empty if it has none."""
        if self.published is None:
            return ""
        if self.is_share:
            return f"{ACCURACY.printed_metric.written(self.published, sign='+')} %"
        return f"{self.published:+.4g}"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A claim and its outcome."""

    claim: Claim
    outcome: Outcome

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        claim = self.claim
        return {
            "name": claim.name,
            "statement": claim.statement,
            "where": claim.where,
            "published": claim.published,
            "contradicted": claim.contradicted,
        } | asdict(self.outcome)


def verdict_on(
    interval: Interval, *, above: Number | None = None, below: Number | None = None
) -> Verdict:
    """Whether a number lies above one limit, below another, or both.

    Args:
        interval: The number and its confidence interval; one of NaN leaves it undecided.
        above: The limit that the number is claimed to exceed.
        below: The limit that the number is claimed to stay below.

    Example:
        >>> verdict_on(Interval(2.0, 1.0, 3.0), above=0)
        'holds'
        >>> verdict_on(Interval(2.0, -1.0, 5.0), above=0)
        'undecided'
    """
    high_limit = float("inf") if below is None else below
    low_limit = float("-inf") if above is None else above
    if interval.low > low_limit and interval.high < high_limit:
        return "holds"
    if interval.high < low_limit or interval.low > high_limit:
        return "does not hold"
    return "undecided"
