"""The primary comparisons of the protocol, see ``docs/protocol.md``."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from oddkout.comparing.statistics import Interval, t_interval
from oddkout.paper.evidence import Evidence, Measure, measure
from oddkout.paper.presets import FIVE, THREE
from oddkout.paper.settings import SIZES, PaperDistribution, Setting
from oddkout.paper.variants import VARIANTS

_DATA = ("mnist", "fashion_mnist")
_LEVEL = 0.05


@dataclass(frozen=True, kw_only=True)
class PrimaryComparison:
    """Two methods, compared by one number.

    Attributes:
        first: A variant.
        second: The variant that it is compared with.
        metric: ``"accuracy"``: the difference. ``"nll"``: the log ratio.
        distribution: Distribution of the classes.
        is_large: Whether it is about 500 to 2,000 examples per class, or 10 to 100.
    """

    first: str
    second: str
    metric: str
    distribution: PaperDistribution
    is_large: bool = False

    @property
    def settings(self) -> list[Setting]:
        """The settings that it averages over."""
        sizes = [size for size in SIZES if (size >= 500) == self.is_large]
        return [Setting(data, self.distribution, size) for data in _DATA for size in sizes]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the protocol."""
        return THREE if self.is_large else FIVE

    @property
    def title(self) -> str:
        """What is compared, in words."""
        first, second = VARIANTS[self.first].title, VARIANTS[self.second].title
        sizes = "500 to 2,000" if self.is_large else "10 to 100"
        what = (
            f"accuracy of {first} minus {second}, points"
            if self.metric == "accuracy"
            else f"NLL of {first} over {second}, ratio"
        )
        return f"{self.distribution}, {sizes} per class: {what}"

    def by_seed(
        self, evidence: Evidence, *, value_of: Measure | None = None, data: str | None = None
    ) -> dict[int, float]:
        """The mean difference or log ratio of every seed that has runs in all settings.

        Args:
            evidence: The runs.
            value_of: Reads the metric from a run; by default as trained.
            data: Averages over the settings of this data set only.
        """
        value_of = value_of or measure(self.metric)
        settings = [one for one in self.settings if data in (None, one.data)]
        gaps: dict[int, list[float]] = {}
        for setting in settings:
            own, other = (
                evidence.by_seed([setting], name, value_of) for name in (self.first, self.second)
            )
            for seed in own.keys() & other.keys():
                gap = (
                    own[seed] - other[seed]
                    if self.metric == "accuracy"
                    else math.log(own[seed] / other[seed])
                )
                gaps.setdefault(seed, []).append(gap)
        needed = len(settings)
        return {seed: fmean(own) for seed, own in sorted(gaps.items()) if len(own) == needed}


# In the order of the protocol.
PRIMARY = (
    PrimaryComparison(first="oko", second="bb+ls", metric="accuracy", distribution="uniform"),
    PrimaryComparison(first="oko", second="bb+ls", metric="nll", distribution="uniform"),
    PrimaryComparison(first="oko", second="bb+ls", metric="accuracy", distribution="heavy-tailed"),
    PrimaryComparison(
        first="oko", second="vanilla+ls+la", metric="accuracy", distribution="heavy-tailed"
    ),
    PrimaryComparison(
        first="oko", second="vanilla+ls+la", metric="nll", distribution="heavy-tailed"
    ),
    PrimaryComparison(first="oko+la", second="oko", metric="nll", distribution="heavy-tailed"),
    PrimaryComparison(
        first="oko", second="bb+ls", metric="accuracy", distribution="uniform", is_large=True
    ),
)


@dataclass(frozen=True, kw_only=True)
class PrimaryResult:
    """The result of a primary comparison.

    Attributes:
        comparison: What was compared.
        values: The difference or log ratio of every seed.
        interval: Their mean with its 95 % interval, not corrected; none until all is performed.
        p_value: By Student's t, corrected by Holm's method.
    """

    comparison: PrimaryComparison
    values: dict[int, float]
    interval: Interval | None = None
    p_value: float | None = None

    @property
    def estimate(self) -> str:
        """The mean and its interval: points of accuracy, or a ratio."""
        if self.interval is None:
            return "not yet performed"
        return written_estimate(self.interval, self.comparison.metric)

    @property
    def winner(self) -> str:
        """The variant that is significantly better; empty if none is."""
        if self.interval is None or self.p_value is None or self.p_value >= _LEVEL:
            return ""
        is_higher = self.interval.mean > 0
        is_first = is_higher == (self.comparison.metric == "accuracy")
        return self.comparison.first if is_first else self.comparison.second

    @property
    def sentence(self) -> str:
        """The result in a sentence."""
        one = self.comparison
        first, second = VARIANTS[one.first].title, VARIANTS[one.second].title
        sizes = "500 to 2,000" if one.is_large else "10 to 100"
        where = f"{one.distribution.capitalize()}, {sizes} per class"
        if one.metric == "nll":
            found = f"the NLL of {first} is {self.estimate} times that of {second}"
        elif not self.winner:
            found = f"the accuracy of {first} minus that of {second} is {self.estimate} points"
        else:
            found = f"{first} is {'more' if self.winner == one.first else 'less'} accurate than "
            found += f"{second}: {self.estimate} points"
        if not self.winner:
            found += f", not significant (p = {self.p_value:.2g})"
        return f"{where}: {found}."

    @property
    def decision(self) -> str:
        """The decision in words."""
        if self.interval is None:
            return ""
        if not self.winner:
            return "no significant difference"
        better = "more accurate" if self.comparison.metric == "accuracy" else "lower NLL"
        return f"{VARIANTS[self.winner].title}: {better}"


def written_estimate(interval: Interval, metric: str) -> str:
    """A mean difference in points of accuracy, or a ratio from a mean logarithm; its interval."""
    numbers = (interval.mean, interval.low, interval.high)
    if metric == "accuracy":
        mean, low, high = (f"{100 * number:+.2f}" for number in numbers)
    else:
        mean, low, high = (f"{math.exp(number):.3f}" for number in numbers)
    return f"{mean} [{low}, {high}]"


def primary_results(evidence: Evidence) -> list[PrimaryResult]:
    """All primary comparisons; nothing is decided before all of them are performed."""
    found = [(one, one.by_seed(evidence)) for one in PRIMARY]
    if not all(set(values) >= set(one.seeds) for one, values in found):
        return [PrimaryResult(comparison=one, values=values) for one, values in found]
    p_values = holm([_p_value(list(values.values())) for _, values in found])
    return [
        PrimaryResult(
            comparison=one, values=values, interval=t_interval(list(values.values())), p_value=p
        )
        for (one, values), p in zip(found, p_values, strict=True)
    ]


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected by Holm's method.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    adjusted, largest = dict[int, float](), 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = largest
    return [adjusted[position] for position in range(len(p_values))]


def _p_value(values: Sequence[float]) -> float:
    """Two-sided p-value of Student's t for a mean of 0; 1 if all values are 0."""
    from scipy.stats import t

    mean = fmean(values)
    error = math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    return float(2 * t.sf(abs(mean) / error * math.sqrt(len(values)), len(values) - 1))
