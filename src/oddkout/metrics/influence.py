"""95 % confidence intervals from the influence of each example, also if examples are grouped.

The influence of an example says how a statistic changes with its weight. A statistic is about the
truth plus the mean of the influences, so that their variance gives its standard error. Examples of
one group, such as the visits of a patient, depend on each other: their influences are added first.
All intervals are of Wilson's type. They stay within the bounds of the statistic, and do not shrink
to a point where it is perfect.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from oddkout.checks import Number

_TAIL = 0.025


class Limits(NamedTuple):
    """Lower and upper limit of an interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Units:
    """What is drawn independently: the examples, or groups of them.

    Args:
        examples: Number of examples.
        codes: Group of each example, as numbers from 0; None if every example is its own.
    """

    examples: int
    codes: Int[Tensor, " examples"] | None = None

    @property
    def count(self) -> int:
        """Number of groups, or of examples without groups."""
        return self.examples if self.codes is None else int(self.codes.max()) + 1

    def totals(self, values: Shaped[Tensor, " examples"]) -> Float[Tensor, " units"]:
        """Sum of the values of each group."""
        if self.codes is None:
            return values.double()
        return torch.zeros(self.count, dtype=torch.float64).index_add(
            0, self.codes, values.double()
        )

    def among(self, chosen: Bool[Tensor, " examples"]) -> int:
        """Number of groups with a chosen example."""
        return int((self.totals(chosen) > 0).sum())


def grouped_share(
    hits: Shaped[Tensor, " examples"], is_trial: Bool[Tensor, " examples"], units: Units
) -> tuple[float, Limits]:
    """A proportion of dependent trials with its interval; NaN with (0, 1) without trials.

    Args:
        hits: 1 for a success, 0 for a failure.
        is_trial: Which examples count as trials.
        units: Groups of the examples.
    """
    trials, groups = int(is_trial.sum()), units.among(is_trial)
    if trials == 0:
        return math.nan, Limits(0.0, 1.0)
    share = float(hits[is_trial].double().mean())
    if groups < 2:
        return share, Limits(0.0, 1.0)
    totals = units.totals((hits.double() - share) * is_trial)
    variance = groups / (groups - 1) * float((totals**2).sum()) / trials**2
    count = min(share * (1 - share) / variance, trials) if variance > 0 else groups
    return share, _wilson(share, count, groups - 1)


def influence_interval(
    value: float,
    influence: Float[Tensor, " examples"],
    units: Units,
    *,
    smallest: int,
    lowest: Number = 0.0,
) -> Limits:
    """Interval of a statistic from ``lowest`` to 1.

    The degrees of freedom follow from the kurtosis of the influences, because a rare class has few
    examples of large influence.

    Args:
        value: The statistic.
        influence: Influence of each example on it.
        units: Groups of the examples.
        smallest: Number of units of the smallest class: they alone count if nothing varies.
        lowest: Smallest possible value.
    """
    if math.isnan(value):
        return Limits(math.nan, math.nan)
    span = 1 - lowest
    share = (value - lowest) / span
    variance = _variance(influence, units) / span**2
    if variance == 0:
        limits = _wilson(share, max(smallest, 1), max(smallest - 1, 1))
    else:
        totals = units.totals(influence)
        freedom = 3 * float((totals**2).sum()) ** 2 / float((totals**4).sum())
        limits = _wilson(share, share * (1 - share) / variance, max(freedom - 1, 1))
    return Limits(*(lowest + span * limit for limit in limits))


class ClassMean:
    """The mean over classes of AUROC or average precision, with its interval.

    The examples of a rare class vary by chance less than they should. So no class counts for more
    than a number of trials that follows from its size, and the degrees of freedom are
    Satterthwaite's.
    """

    def __init__(self, units: Units) -> None:
        self.units = units
        self._values: list[float] = []
        self._influence = torch.zeros(units.examples, dtype=torch.float64)
        self._variance, self._raised, self._squares, self._inverse = 0.0, 0.0, 0.0, 0.0
        self._smallest = units.examples

    def add(
        self, value: float, influence: Float[Tensor, " examples"], is_class: Bool[Tensor, " _"]
    ) -> Limits:
        """Add a class and return the interval of its own value; NaN is left out of the mean.

        Args:
            value: The statistic of the class, from 0 to 1.
            influence: Influence of each example on it.
            is_class: Which examples are of the class.
        """
        if math.isnan(value):
            return Limits(math.nan, math.nan)
        positives, negatives = self.units.among(is_class), self.units.among(~is_class)
        # A Mann-Whitney statistic is known about as well as a share of so many trials at most
        # (Newcombe, Statistics in Medicine 2006).
        largest = 4 * positives * negatives / (positives + negatives)
        smallest = min(positives, negatives)
        variance = _variance(influence, self.units)
        raised = max(variance, value * (1 - value) / largest)
        self._values.append(value)
        self._influence += influence
        self._variance += variance
        self._raised += raised
        self._squares += raised**2 / max(smallest - 1, 1)
        self._inverse += 1 / largest
        self._smallest = min(self._smallest, smallest)
        return _wilson(
            value, value * (1 - value) / raised if raised > 0 else largest, max(smallest - 1, 1)
        )

    @property
    def value(self) -> float:
        """The mean; NaN without classes."""
        return sum(self._values) / len(self._values) if self._values else math.nan

    @property
    def limits(self) -> Limits:
        """Its interval."""
        number, mean = len(self._values), self.value
        if number == 0:
            return Limits(math.nan, math.nan)
        variance = _variance(self._influence / number, self.units)
        variance += (self._raised - self._variance) / number**2
        if variance <= 0:
            return _wilson(mean, number / self._inverse, max(self._smallest - 1, 1))
        freedom = self._raised**2 / self._squares
        if number == 2:  # the same examples separate both classes
            freedom = min(freedom, max(self._smallest - 1, 1))
        return _wilson(mean, mean * (1 - mean) / variance, freedom)


def _variance(influence: Float[Tensor, " examples"], units: Units) -> float:
    """Variance of a statistic."""
    if units.count < 2:
        return 0.0
    totals = units.totals(influence)
    # Rounding is no variance: influences of a perfect statistic are all 0.
    squares = float((totals**2).sum()) / len(influence) ** 2
    return squares * units.count / (units.count - 1) if squares > 1e-24 else 0.0


def _wilson(share: Number, count: Number, freedom: Number) -> Limits:
    """Wilson's interval of a share of ``count`` trials, with a quantile of Student's t."""
    from scipy.special import stdtrit

    if count <= 0:
        return Limits(0.0, 1.0)
    square = float(stdtrit(freedom, 1 - _TAIL)) ** 2
    centre = (share + square / (2 * count)) / (1 + square / count)
    spread = max(share * (1 - share) / count, 0.0) + square / (4 * count**2)
    half = math.sqrt(square * spread) / (1 + square / count)
    return Limits(max(0.0, min(centre - half, share)), min(1.0, max(centre + half, share)))
