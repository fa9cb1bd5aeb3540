"""A claim of the paper about experiments, and what became of it."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from oddkout.checks import Number
from oddkout.comparing.comparison import Interval
from oddkout.paper.evidence import Evidence

Verdict = Literal["holds", "does not hold", "undecided", "no data"]

# The words of the paper that are no numbers, and what they are taken for.
HARDLY = 0.01  # of accuracy
SLIGHTLY = 0.03  # of ECE
LITTLE = 1.2  # times the cost


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a claim.

    Attributes:
        verdict: Whether it holds.
        numbers: The numbers, as a reader wants them.
        value: The number that decides: a difference, a ratio or a count.
        low: Lower limit of its 95 % interval.
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
        name: A name, parts of it separated by slashes.
        statement: What it says.
        where: Where the paper says so.
        check: What runs say about it.
        published: The deciding number from the paper's own tables, where these have it.
        contradicted: Whether that number contradicts the statement.
        is_share: Whether that number is a share, to be shown in per cent.
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
        """The paper's number as a reader wants it; empty where there is none."""
        if self.published is None:
            return ""
        return f"{100 * self.published:+.2f} %" if self.is_share else f"{self.published:+.4g}"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A claim and what became of it."""

    claim: Claim
    finding: Outcome

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        claim = self.claim
        return {
            "name": claim.name,
            "statement": claim.statement,
            "where": claim.where,
            "published": claim.published,
            "contradicted": claim.contradicted,
        } | asdict(self.finding)


def verdict_on(
    found: Interval, *, above: Number | None = None, below: Number | None = None
) -> Verdict:
    """Whether a number lies above one limit, or below another, or both, as far as is known.

    Args:
        found: The number with its interval; one of NaN decides nothing.
        above: What it is claimed to exceed.
        below: What it is claimed to fall short of.

    Example:
        >>> verdict_on(Interval(2.0, 1.0, 3.0), above=0)
        'holds'
        >>> verdict_on(Interval(2.0, -1.0, 5.0), above=0)
        'undecided'
    """
    high_limit = float("inf") if below is None else below
    low_limit = float("-inf") if above is None else above
    if found.low > low_limit and found.high < high_limit:
        return "holds"
    if found.high < low_limit or found.low > high_limit:
        return "does not hold"
    return "undecided"
