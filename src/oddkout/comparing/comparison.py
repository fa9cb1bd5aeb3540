"""What a duel of methods shows: means over seeds, paired differences, and a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, stdev

from oddkout.comparing.run import Run
from oddkout.fitting.methods import METHODS

# Of the metrics that are compared, these are better when they are higher.
_HIGHER = frozenset({"accuracy", "balanced_accuracy", "correctness_auroc"})
METRICS = ("accuracy", "nll", "ece", "brier", "entropy_gap")


@dataclass(frozen=True)
class Interval:
    """A mean over seeds with its 95 % interval by Student's t; NaN limits for a single seed."""

    mean: float
    low: float
    high: float

    def has_zero(self) -> bool:
        """Whether 0 lies inside, or the limits are unknown."""
        return not (self.low > 0 or self.high < 0)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Runs of several methods on one setting, the same seeds for all of them.

    Attributes:
        runs: The runs with the chosen learning rates.
        tuning: All runs among which these were chosen.
        unpaired: Runs that are left out, since not every method has one with their seed.
    """

    runs: Sequence[Run]
    tuning: Sequence[Run] = ()
    unpaired: Sequence[Run] = ()

    @cached_property
    def by_method(self) -> dict[str, list[Run]]:
        """The runs of every method, by seed; methods in the order of their table."""
        found: dict[str, list[Run]] = {}
        for run in sorted(self.runs, key=lambda run: run.config.seed):
            found.setdefault(run.config.method, []).append(run)
        return {name: found[name] for name in (*METHODS, *found) if name in found}

    @property
    def methods(self) -> list[str]:
        """The methods all of whose runs ended well."""
        return [
            name for name, runs in self.by_method.items() if not any(run.has_failed for run in runs)
        ]

    @property
    def failed(self) -> dict[str, str]:
        """The others, each with the first reason."""
        return {
            name: next(run.reason for run in runs if run.has_failed)
            for name, runs in self.by_method.items()
            if any(run.has_failed for run in runs)
        }

    def values(self, method: str, metric: str, *, is_tempered: bool = False) -> list[float]:
        """A metric of a method, seed by seed.

        Args:
            method: The method.
            metric: The metric, as ``evaluate`` names it.
            is_tempered: Whether with the out-of-fold temperature.
        """
        return [run.value(metric, is_tempered=is_tempered) for run in self.by_method[method]]

    def mean(self, method: str, metric: str, *, is_tempered: bool = False) -> Interval:
        """Its mean over seeds, with a 95 % interval.

        Args:
            method: The method.
            metric: The metric.
            is_tempered: Whether with the out-of-fold temperature.
        """
        return t_interval(self.values(method, metric, is_tempered=is_tempered))

    def best(self, metric: str, *, is_tempered: bool = False) -> str:
        """The method with the best mean.

        Args:
            metric: The metric.
            is_tempered: Whether with the out-of-fold temperature.
        """
        sign = -1 if metric in _HIGHER else 1
        return min(
            self.methods,
            key=lambda name: sign * self.mean(name, metric, is_tempered=is_tempered).mean,
        )

    def lag(self, method: str, metric: str, *, is_tempered: bool = False) -> Interval:
        """How much worse than the best a method is: paired by seed, above 0 is worse.

        The interval is corrected for the number of methods (Bonferroni), so that with 95 %
        probability all of them hold at once.

        Args:
            method: The method.
            metric: The metric.
            is_tempered: Whether with the out-of-fold temperature.
        """
        best = self.best(metric, is_tempered=is_tempered)
        sign = -1 if metric in _HIGHER else 1
        own, others = (
            self.values(name, metric, is_tempered=is_tempered) for name in (method, best)
        )
        gaps = [sign * (a - b) for a, b in zip(own, others, strict=True)]
        return t_interval(gaps, comparisons=max(len(self.methods) - 1, 1))

    def tied(self, metric: str, *, is_tempered: bool = False) -> list[str]:
        """The methods that cannot be told from the best, the best among them.

        Args:
            metric: The metric.
            is_tempered: Whether with the out-of-fold temperature.
        """
        best = self.best(metric, is_tempered=is_tempered)
        return [
            name
            for name in self.methods
            if name == best or self.lag(name, metric, is_tempered=is_tempered).has_zero()
        ]

    @property
    def seeds(self) -> int:
        """Number of seeds."""
        return max(len(runs) for runs in self.by_method.values())

    @property
    def verdict(self) -> str:
        """What the runs support, in two sentences."""
        if not self.methods:
            return "Every method failed. Look at the reasons."
        return f"{self._claim('accuracy')} {self._claim('nll')}"

    def _claim(self, metric: str) -> str:
        """A sentence on one metric that claims no more than its intervals allow."""
        best, tied = self.best(metric), self.tied(metric)
        shown = self.mean(best, metric)
        value = f"{100 * shown.mean:.1f} %" if metric == "accuracy" else f"{shown.mean:.3f}"
        what = {
            "accuracy": "the highest mean accuracy",
            "nll": "the best probabilities as trained (NLL",
        }
        lead = f"{best} has {what[metric]}" + (
            f", {value}" if metric == "accuracy" else f" {value})"
        )
        seeds = f"{self.seeds} seeds" if self.seeds > 1 else "one seed"
        behind = [name for name in self.methods if name not in tied]
        others = [name for name in tied if name != best]
        if len(self.methods) == 1:
            return f"{lead}; there is no other method that it could be compared with."
        if self.seeds < 2:
            return f"{lead}; one seed cannot tell methods apart."
        if not others:
            return f"{lead}, and {seeds} tell it from every other method."
        if not behind:
            return f"{lead}, but {seeds} do not tell it from any other method."
        return f"{lead}; {seeds} tell it from {_listed(behind)}, but not from {_listed(others)}."


def t_interval(values: Sequence[float], *, comparisons: int = 1) -> Interval:
    """Mean and 95 % interval by Student's t, corrected for a number of comparisons.

    Args:
        values: One value per seed.
        comparisons: Number of intervals that are to hold at once.

    Example:
        Two values: t with one degree of freedom is 12.7.

        >>> interval = t_interval([0.0, 2.0])
        >>> round(interval.low, 1), round(interval.high, 1)
        (-11.7, 13.7)
    """
    mean = fmean(values)
    if len(values) < 2:
        return Interval(mean, float("nan"), float("nan"))
    from scipy.stats import t

    error = stdev(values) / len(values) ** 0.5
    half = float(t.ppf(1 - 0.025 / comparisons, len(values) - 1)) * error
    return Interval(mean, mean - half, mean + half)


def _listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
