"""Checks of claims: functions that return, for the evidence, the outcome of a claim."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from oddkout.checks import Number
from oddkout.comparing.statistics import Interval, t_interval
from oddkout.metrics.catalogue import METRICS, Metric
from oddkout.paper.claims.claim import Outcome, Verdict, verdict_on
from oddkout.paper.digest import certainty
from oddkout.paper.evidence import Evidence, measure
from oddkout.paper.published import ACCURACY
from oddkout.paper.settings import PaperDistribution, Setting

BASELINES = ("vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls")
CALIBRATED = (*BASELINES, "bb+ts")

NO_RUNS = Outcome(verdict="no data", numbers="no runs")


def compares(
    columns: Sequence[tuple[str, PaperDistribution]],
    first: str,
    second: str,
    metric_name: str,
    *,
    above: Number | None = None,
    below: Number | None = None,
) -> Callable[[Evidence], Outcome]:
    """Check first minus second in a metric, averaged over sizes, against limits."""
    metric, value_of = METRICS[metric_name], measure(metric_name)

    def check(evidence: Evidence) -> Outcome:
        settings = [
            setting
            for data, distribution in columns
            for setting in evidence.shared_settings(data, distribution, first, second)
        ]
        difference = evidence.difference(settings, first, second, value_of) if settings else None
        if difference is None:
            return NO_RUNS
        own, other = (evidence.by_seed(settings, name, value_of) for name in (first, second))
        seeds = sorted(own.keys() & other.keys())
        means = [sum(side[seed] for seed in seeds) / len(seeds) for side in (own, other)]
        both = f"{' against '.join(map(metric.written, means))} {metric.unit}".rstrip()
        sizes = sorted({setting.per_class for setting in settings})
        return _outcome(
            verdict_on(difference, above=above, below=below),
            f"{both}: {_signed(difference, metric)}; {_seeds(len(seeds))}, "
            f"{', '.join(map(str, sizes))} per class",
            difference,
            seeds=len(seeds),
        )

    return check


def reaches(
    setting: Setting, *, above: Number, best_seed: bool = False
) -> Callable[[Evidence], Outcome]:
    """Check OKO's mean accuracy in one setting, or that of its best seed, against a number."""
    metric, value_of = ACCURACY.printed_metric, measure(ACCURACY.metric)

    def check(evidence: Evidence) -> Outcome:
        mean = evidence.mean([setting], "oko", value_of)
        if mean is None:
            return NO_RUNS
        values = list(evidence.by_seed([setting], "oko", value_of).values())
        best = max(values)
        if best_seed:
            return Outcome(
                verdict="holds" if best >= above else "does not hold",
                numbers=f"best of {_seeds(len(values))}: {metric.written(best)} %",
                value=best,
                seeds=len(values),
            )
        return _outcome(
            verdict_on(mean, above=above),
            f"{_with_interval(mean, metric)}; {_seeds(len(values))}, best {metric.written(best)} %",
            mean,
            seeds=len(values),
        )

    return check


def ranks(data: str, distribution: PaperDistribution, rank: int) -> Callable[[Evidence], Outcome]:
    """Check that fewer than ``rank`` baselines have a lower entropy gap than OKO."""
    value_of = measure("entropy_gap")

    def check(evidence: Evidence) -> Outcome:
        differences = {}
        for name in BASELINES:
            settings = evidence.shared_settings(data, distribution, "oko", name)
            difference = evidence.difference(settings, "oko", name, value_of) if settings else None
            if difference is None:
                return Outcome(verdict="no data", numbers=f"no runs of {name} beside oko")
            differences[name] = difference
        lower = [name for name, difference in differences.items() if difference.low > 0]
        possible = [name for name, difference in differences.items() if not difference.high < 0]
        verdict: Verdict = "undecided"
        if len(possible) < rank:
            verdict = "holds"
        elif len(lower) >= rank:
            verdict = "does not hold"
        named = ", ".join(lower) or "none"
        unsure = ", ".join(name for name in possible if name not in lower) or "none"
        return Outcome(
            verdict=verdict,
            numbers=f"significantly lower than OKO: {named}; not significantly different: {unsure}",
            value=float(len(lower)),
        )

    return check


def costs(first: str, second: str, *, below: Number) -> Callable[[Evidence], Outcome]:
    """Check the ratio of the CPU-seconds of two variants, over whole runs in the same settings.

    Runs of older versions did not record CPU-seconds and do not count. Neither variant may share
    its training with others, since their evaluation would be counted, too.
    """

    def seconds(evidence: Evidence, setting: Setting, name: str) -> dict[tuple[int, int], float]:
        return {
            (run.config.seed, run.config.folds): run.seconds["cpu"]
            for run in evidence.runs(setting, name)
            if "cpu" in run.seconds
        }

    def check(evidence: Evidence) -> Outcome:
        ratios = []
        for setting in evidence.settings:
            own, other = (seconds(evidence, setting, name) for name in (first, second))
            ratios += [own[key] / other[key] for key in sorted(own.keys() & other.keys())]
        if not ratios:
            return NO_RUNS
        mean = t_interval(ratios)
        interval = f" [{mean.low:.2f}, {mean.high:.2f}]" if len(ratios) > 1 else ""
        return _outcome(
            verdict_on(mean, below=below),
            f"ratio {mean.mean:.2f}{interval} in {len(ratios)} pairs of runs",
            mean,
            seeds=len(ratios),
        )

    return check


def gains_in_tail(data: str) -> Callable[[Evidence], Outcome]:
    """Check that OKO's mean lead over the baselines is larger for heavy-tailed classes."""
    metric, value_of = METRICS["accuracy"], measure("accuracy")

    def check(evidence: Evidence) -> Outcome:
        by_seed: dict[str, dict[int, list[float]]] = {}
        for distribution in ("heavy-tailed", "uniform"):
            table: dict[int, list[float]] = {}
            for name in BASELINES:
                settings = evidence.shared_settings(data, distribution, "oko", name)
                own, other = (evidence.by_seed(settings, who, value_of) for who in ("oko", name))
                for seed in own.keys() & other.keys():
                    table.setdefault(seed, []).append(own[seed] - other[seed])
            by_seed[distribution] = {
                seed: leads for seed, leads in table.items() if len(leads) == len(BASELINES)
            }
        heavy, even = by_seed["heavy-tailed"], by_seed["uniform"]
        seeds = sorted(heavy.keys() & even.keys())
        if not seeds:
            return NO_RUNS
        gains = [(sum(heavy[s]) - sum(even[s])) / len(BASELINES) for s in seeds]
        gain = t_interval(gains)
        means = [
            metric.written(sum(map(sum, table.values())) / len(table) / len(BASELINES))
            for table in (heavy, even)
        ]
        return _outcome(
            verdict_on(gain, above=0),
            f"mean lead {means[0]} heavy-tailed, {means[1]} uniform: "
            f"{_signed(gain, metric)}; {_seeds(len(seeds))}",
            gain,
            seeds=len(seeds),
        )

    return check


def knows_when_right(data: str, distribution: PaperDistribution) -> Callable[[Evidence], Outcome]:
    """Check that most correct predictions have low entropy and most wrong ones high entropy."""

    def check(evidence: Evidence) -> Outcome:
        shares = []
        for setting in evidence.shared_settings(data, distribution, "oko"):
            for run in evidence.runs(setting, "oko"):
                if (own := certainty(run)) is not None:
                    shares.append(own)
        if not shares:
            return Outcome(verdict="no data", numbers="no runs with predictions")
        right, wrong = np.mean(shares, axis=0)
        return Outcome(
            verdict="holds" if min(right, wrong) > 0.5 else "does not hold",
            numbers=f"{100 * right:.0f} % of the correct predictions have an entropy below half of "
            f"log C, {100 * wrong:.0f} % of the wrong ones above; {len(shares)} runs",
            value=float(min(right, wrong)),
        )

    return check


def shows(size: int) -> Callable[[Evidence], Outcome]:
    """Report our accuracy where the paper does not say what it compares with."""
    metric, value_of = ACCURACY.printed_metric, measure(ACCURACY.metric)

    def check(evidence: Evidence) -> Outcome:
        mean = evidence.mean([Setting("mnist", "uniform", size)], "oko", value_of)
        if mean is None:
            return NO_RUNS
        return _outcome(
            "no data",
            f"{_with_interval(mean, metric)} here; the paper does not state the previous best",
            mean,
        )

    return check


def _outcome(verdict: Verdict, numbers: str, interval: Interval, *, seeds: int = 0) -> Outcome:
    """The outcome that an interval decides; JSON has no NaN, so limits of NaN become none."""
    low, high = (None if math.isnan(limit) else limit for limit in (interval.low, interval.high))
    return Outcome(
        verdict=verdict, numbers=numbers, value=interval.mean, low=low, high=high, seeds=seeds
    )


def _with_interval(mean: Interval, metric: Metric) -> str:
    """A mean in per cent and its interval."""
    low, high = (metric.written(limit) for limit in (mean.low, mean.high))
    return f"{metric.written(mean.mean)} % [{low}, {high}]"


def _signed(difference: Interval, metric: Metric) -> str:
    """A difference and its interval, with signs; without the interval if there is one seed."""
    mean, low, high = (
        metric.written(value, sign="+")
        for value in (difference.mean, difference.low, difference.high)
    )
    return mean if math.isnan(difference.low) else f"{mean} [{low}, {high}]"


def _seeds(count: int) -> str:
    return "one seed" if count == 1 else f"{count} seeds"
