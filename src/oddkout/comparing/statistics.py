"""Means over seeds and test examples, with intervals that count both as samples.

A comparison repeats training on several seeds and measures each classifier on a test part. Both the
training sample and the test sample are random, and test parts of different seeds may overlap. The
variance of the mean is estimated by two-way clustering, by seed and by test example (Cameron,
Gelbach and Miller, Journal of Business and Economic Statistics 2011). If seeds split the same data
anew, training parts overlap as well; the part of the variance that is due to training is raised as
Nadeau and Bengio (Machine Learning 2003) suggest.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np
from jaxtyping import Float, Shaped
from numpy import ndarray

from oddkout.checks import Number

# Confidence of all intervals.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % confidence interval; limits that are not known are NaN."""

    mean: Number
    low: Number
    high: Number

    def has_zero(self) -> bool:
        """Whether the interval contains 0 or its limits are unknown."""
        return not (self.low > 0 or self.high < 0)

    def to_dict(self) -> dict[str, float | None]:
        """Mean and limits for JSON."""
        return {name: number(value) for name, value in vars(self).items()}


def number(value: Number) -> float | None:
    """A number for JSON, which has no NaN: None instead."""
    return None if value != value else float(value)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean and how exactly it is known.

    Attributes:
        mean: Mean over seeds of the means over test examples.
        variance: Its variance.
        freedom: Degrees of freedom of the variance.
        size: Number of different test examples, or of groups of them.
    """

    mean: Number
    variance: Number
    freedom: Number
    size: int

    def interval(
        self, *, lowest: Number = -math.inf, highest: Number = math.inf, comparisons: int = 1
    ) -> Interval:
        """The 95 % confidence interval, within the bounds of the quantity.

        A share, from 0 to 1, gets Wilson's interval for the number of examples that would give this
        variance: at 100 % it does not shrink to a point. A quantity of at least 0 gets an
        interval of its logarithm. Everything else gets a symmetric one.

        Args:
            lowest: Smallest possible value.
            highest: Largest possible value.
            comparisons: Number of intervals that shall hold at once.
        """
        from scipy.stats import t

        if not self.freedom > 0:
            return Interval(self.mean, math.nan, math.nan)
        quantile = float(t.ppf(1 - (1 - CONFIDENCE) / 2 / comparisons, self.freedom))
        half = quantile * math.sqrt(self.variance)
        if (lowest, highest) == (0, 1):
            return self._share(quantile)
        if lowest == 0 and highest == math.inf and self.mean > 0:
            factor = math.exp(half / self.mean)
            return Interval(self.mean, self.mean / factor, self.mean * factor)
        return Interval(
            self.mean, max(self.mean - half, float(lowest)), min(self.mean + half, float(highest))
        )

    def _share(self, quantile: float) -> Interval:
        """Wilson's interval."""
        share, square = self.mean, quantile**2
        count = float(self.size)
        if self.variance > 0:
            count = min(share * (1 - share) / self.variance, count)
        if count <= 0:
            count = float(self.size)
        centre = (share + square / (2 * count)) / (1 + square / count)
        spread = math.sqrt(share * (1 - share) / count + square / (4 * count**2))
        half = quantile * spread / (1 + square / count)
        return Interval(share, max(0.0, centre - half), min(1.0, centre + half))


@dataclass(frozen=True)
class TrainingVariance:
    """The part of the variance of a mean over seeds that is due to training.

    Attributes:
        variance: The variance; below 0 if seeds differ less than their test examples explain.
        freedom: Its degrees of freedom.
    """

    variance: Number
    freedom: Number


@dataclass(frozen=True)
class UnitVariance:
    """The part of the variance of a mean that is due to the test examples, or groups of them.

    Attributes:
        variance: The variance.
        freedom: Its degrees of freedom.
    """

    variance: Number
    freedom: Number


def pooled_variance(values: Sequence[Sequence[Float[ndarray, " _"]]]) -> TrainingVariance | None:
    """Training variance of the difference of two contestants, averaged over all pairs.

    The variance between seeds is that of an analysis of variance of contestants and seeds; what
    test examples explain of it is subtracted.

    Args:
        values: For each contestant and seed, one value per test example; the same examples for
            all contestants.

    Returns:
        None for fewer than two contestants or seeds.
    """
    contestants, seeds = len(values), len(values[0])
    if contestants < 2 or seeds < 2:
        return None
    means = np.array([[own.mean() for own in one] for one in values])
    residuals = means - means.mean(axis=0) - means.mean(axis=1, keepdims=True) + means.mean()
    freedom = (contestants - 1) * (seeds - 1)
    between = 2 * float((residuals**2).sum()) / freedom / seeds
    within = 0.0
    for seed in range(seeds):
        losses = np.stack([one[seed] for one in values]) - means.mean(axis=1)[:, None]
        spread = losses.var(axis=0, ddof=1)
        within += 2 * float(spread.sum()) / (seeds * losses.shape[1]) ** 2
    return TrainingVariance(between - within, freedom)


def crossed_estimate(
    values: Sequence[Float[ndarray, " _"]],
    units: Sequence[Shaped[ndarray, " _"]],
    *,
    overlap: Number = 0.0,
    pooled: "TrainingVariance | None" = None,
) -> Estimate:
    """Mean over seeds and test examples.

    Args:
        values: For each seed, one value per test example, such as its loss.
        units: For each seed, the test example of each value, or its group: values of the same unit
            are dependent.
        overlap: Examples of a test part over those of a training part, if seeds split the same data
            anew; 0 if every seed draws its own training data.
        pooled: For a difference of two contestants: how much training contributes to the variance
            of such differences on average. A few seeds tell little of a single one; the larger
            of both is used.

    Example:
        The test part is the same for both seeds, so that it counts as two examples, not as four.

        >>> values = [np.array([0.0, 1.0]), np.array([0.0, 1.0])]
        >>> estimate = crossed_estimate(values, [np.arange(2)] * 2)
        >>> estimate.mean, estimate.variance, estimate.size
        (0.5, 0.25, 2)
    """
    seeds = len(values)
    means = np.array([own.mean() for own in values])
    mean = float(means.mean())
    share = np.concatenate([np.full(len(own), 1 / (seeds * len(own))) for own in values])
    residuals = share * (np.concatenate(values) - mean)
    _, unit = np.unique(np.concatenate(units), return_inverse=True)
    size = int(unit.max()) + 1
    if size < 2:
        return Estimate(mean=mean, variance=0.0, freedom=0.0, size=size)
    correction = size / (size - 1)
    by_unit = np.bincount(unit, weights=residuals)
    known = UnitVariance(correction * float(by_unit @ by_unit), _freedom_of_units(by_unit))
    by_cell = correction * float((residuals**2).sum())
    if seeds == 1:
        return Estimate(mean=mean, variance=known.variance, freedom=known.freedom, size=size)
    # What seeds differ by beyond their test examples is due to training.
    training = TrainingVariance(float(means.var(ddof=1)) / seeds - by_cell, seeds - 1)
    if pooled is not None and pooled.variance > training.variance:
        training = pooled
    return _summed(mean, known, training, size=size, factor=1 + seeds * overlap)


def approximate_estimate(
    values: Sequence[float],
    errors: Sequence[float],
    units: Sequence[Shaped[ndarray, " _"]],
    *,
    overlap: Number = 0.0,
) -> Estimate:
    """Like ``crossed_estimate`` for a metric that is not a mean over examples, such as ECE.

    Args:
        values: Value of the metric for each seed.
        errors: Its standard error by the test part of each seed, e.g. from a bootstrap.
        units: For each seed, the unit of each test example.
        overlap: See ``crossed_estimate``.
    """
    seeds, mean = len(values), float(np.mean(values))
    _, counts = np.unique(np.concatenate([np.unique(own) for own in units]), return_counts=True)
    size = len(counts)
    square = float(np.mean(np.square(errors)))
    # 1 if all seeds share their test part, 1 / seeds if no two of them overlap.
    shared = float(counts @ counts) / (seeds * counts.sum())
    by_unit = square * shared
    if size < 2:
        return Estimate(mean=mean, variance=0.0, freedom=0.0, size=size)
    if seeds == 1:
        return Estimate(mean=mean, variance=by_unit, freedom=size - 1, size=size)
    spread = float(np.var(values, ddof=1)) / seeds
    training = TrainingVariance(spread - square / seeds, seeds - 1)
    known = UnitVariance(by_unit, size - 1)
    return _summed(mean, known, training, size=size, factor=1 + seeds * overlap)


def t_interval(values: Sequence[float], *, comparisons: int = 1) -> Interval:
    """Mean and 95 % confidence interval (Student's t), corrected for several comparisons.

    Args:
        values: One value per seed.
        comparisons: Number of intervals that shall hold at once with 95 % probability.

    Example:
        For two values, the quantile of Student's t is 12.7.

        >>> interval = t_interval([0.0, 2.0])
        >>> round(interval.low, 1), round(interval.high, 1)
        (-11.7, 13.7)
    """
    mean = fmean(values)
    if len(values) < 2 or not math.isfinite(mean):  # a seed may have no value
        return Interval(mean, float("nan"), float("nan"))
    from scipy.stats import t

    error = stdev(values) / len(values) ** 0.5
    tail = (1 - CONFIDENCE) / 2 / comparisons
    half = float(t.ppf(1 - tail, len(values) - 1)) * error
    return Interval(mean, mean - half, mean + half)


def _freedom_of_units(sums: Float[ndarray, " units"]) -> float:
    """Degrees of freedom of a sum of squares, from its own variance (Satterthwaite).

    For normal sums of equal variance this is about their number. Large losses of a few examples,
    or examples that are in more test parts than others, make it smaller.

    Args:
        sums: For each unit, the sum of its weighted residuals.

    Example:
        Four equal squares have no variance, so the number of units decides; with one large square
        among a hundred little is known.

        >>> _freedom_of_units(np.array([1.0, -1.0, 1.0, -1.0]))
        3.0
        >>> round(_freedom_of_units(np.array([10.0] + [1.0] * 99)), 1)
        8.2
    """
    squares, units = sums**2, len(sums)
    spread = float(((squares - squares.mean()) ** 2).sum())
    most = units - 1.0
    return most if spread == 0 else min(most, 2 * float(squares.sum()) ** 2 / spread)


def _summed(
    mean: float, units: UnitVariance, training: TrainingVariance, *, size: int, factor: Number
) -> Estimate:
    """The sum of both parts of the variance, with Satterthwaite's degrees of freedom."""
    by_training = max(0.0, training.variance) * factor
    variance = units.variance + by_training
    parts = units.variance**2 / units.freedom + by_training**2 / training.freedom
    freedom = variance**2 / parts if parts > 0 else units.freedom
    return Estimate(mean=mean, variance=variance, freedom=freedom, size=size)
