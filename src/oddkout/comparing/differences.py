"""Means of runs, and differences between the runs of two methods, with their intervals."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Shaped
from numpy import ndarray

from oddkout.comparing.example_values import LOSSES, example_values
from oddkout.comparing.run import Run
from oddkout.comparing.statistics import (
    Interval,
    TrainingVariance,
    approximate_estimate,
    crossed_estimate,
    pooled_variance,
    t_interval,
)
from oddkout.metrics.catalogue import CATALOGUE

# Half the width of a stored 95 % interval, in standard errors.
_HALF_WIDTH = 1.96


def mean_of_runs(runs: Sequence[Run], metric: str, *, is_tempered: bool) -> Interval:
    """Mean of a metric over runs that differ in their seed.

    Runs without predictions, such as recorded ones, are averaged over seeds alone.

    Args:
        runs: Runs of one method, ordered by seed.
        metric: Name of the metric.
        is_tempered: Whether the out-of-fold calibration is applied.
    """
    values = [run.value(metric, is_tempered=is_tempered) for run in runs]
    if not _have_predictions(runs):
        return t_interval(values)
    units, overlap = test_units(runs), training_overlap(runs)
    if metric in LOSSES:
        losses = [example_values(run, metric, is_tempered=is_tempered) for run in runs]
        estimate = crossed_estimate(losses, units, overlap=overlap)
    else:
        errors = [_error(run, metric, is_tempered) for run in runs]
        if any(math.isnan(error) for error in errors):
            return t_interval(values)
        estimate = approximate_estimate(values, errors, units, overlap=overlap)
    limits = CATALOGUE[metric]
    if metric in LOSSES:
        interval = estimate.interval(lowest=limits.lowest, highest=limits.highest)
        if metric != "set_size":
            return interval
        return replace(interval, high=min(interval.high, float(len(runs[0].classes))))
    plain = estimate.interval()
    return replace(
        plain, low=max(plain.low, float(limits.lowest)), high=min(plain.high, float(limits.highest))
    )


def difference_of_runs(
    runs: Sequence[Run],
    others: Sequence[Run],
    metric: str,
    *,
    is_tempered: bool,
    comparisons: int = 1,
    pooled: TrainingVariance | None = None,
) -> Interval:
    """By how much runs are worse than those of another method with the same seeds.

    Args:
        runs: Runs of one method, ordered by seed.
        others: Runs of the other method, ordered by seed.
        metric: Name of the metric.
        is_tempered: Whether the out-of-fold calibration is applied.
        comparisons: Number of intervals that shall hold at once.
        pooled: Training variance of such differences, see ``pooled_difference``.
    """
    sign = CATALOGUE[metric].sign
    pairs = list(zip(runs, others, strict=True))
    if metric in LOSSES and _have_predictions([*runs, *others]):
        gaps = [
            sign * (ours - theirs)
            for ours, theirs in (
                (example_values(run, metric, is_tempered=is_tempered) for run in pair)
                for pair in pairs
            )
        ]
        estimate = crossed_estimate(
            gaps, test_units(runs), overlap=training_overlap(runs), pooled=pooled
        )
        return estimate.interval(comparisons=comparisons)
    return t_interval(
        [
            sign
            * (
                run.value(metric, is_tempered=is_tempered)
                - other.value(metric, is_tempered=is_tempered)
            )
            for run, other in pairs
        ],
        comparisons=comparisons,
    )


def pooled_difference(
    contestants: Sequence[Sequence[Run]], metric: str, *, is_tempered: bool
) -> TrainingVariance | None:
    """Training variance of the difference of two methods, averaged over all pairs of them.

    Args:
        contestants: The runs of each method, ordered by seed.
        metric: Name of the metric.
        is_tempered: Whether the out-of-fold calibration is applied.
    """
    if metric not in LOSSES or not all(map(_have_predictions, contestants)):
        return None
    return pooled_variance(
        [
            [example_values(run, metric, is_tempered=is_tempered) for run in runs]
            for runs in contestants
        ]
    )


def test_units(runs: Sequence[Run]) -> list[Shaped[ndarray, " _"]]:
    """For each run, what its test examples are: equal entries depend on each other."""
    return [
        np.arange(len(run.labels)) if run.test_rows is None else run.test_rows
        for run in runs
        if run.labels is not None
    ]


def training_overlap(runs: Sequence[Run]) -> float:
    """Test examples over training examples, if the seed splits the same data; else 0."""
    first = runs[0]
    if first.test_rows is None or first.labels is None:
        return 0.0
    return len(first.labels) / max(sum(first.train_counts), 1)


def _have_predictions(runs: Sequence[Run]) -> bool:
    return all(run.logits is not None for run in runs)


def _error(run: Run, metric: str, is_tempered: bool) -> float:
    """Standard error of a metric by the test part, from the stored interval; NaN without one."""
    measured = (run.tempered if is_tempered else run.as_trained)[metric]
    low, high = measured.get("low"), measured.get("high")
    return math.nan if low is None or high is None else (high - low) / (2 * _HALF_WIDTH)
