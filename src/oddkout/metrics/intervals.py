"""95 % confidence intervals: exact ones for proportions, bootstrap intervals for the rest."""

import math
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

_TAIL = 0.025

# One count, or an array of counts.
Counts = Any


def clopper_pearson(successes: Counts, trials: Counts) -> tuple[Any, Any]:
    """Exact 95 % confidence interval of a proportion; (0, 1) without trials.

    Unlike a bootstrap interval, it has a width even if all trials or none succeed.

    Example:
        All of 10 succeed: the lower limit solves p ** 10 = 0.025.

        >>> low, high = clopper_pearson(10, 10)
        >>> round(float(low), 4), float(high)
        (0.6915, 1.0)
    """
    from scipy.special import betaincinv

    successes, trials = np.asarray(successes, float), np.asarray(trials, float)
    failures = trials - successes
    # The inverse needs arguments of at least 1; the limits at 0 % and 100 % are set below.
    low = betaincinv(np.maximum(successes, 1), failures + 1, _TAIL)
    high = betaincinv(successes + 1, np.maximum(failures, 1), 1 - _TAIL)
    return np.where(successes > 0, low, 0.0), np.where(failures > 0, high, 1.0)


def binomial_band(share: Counts, trials: Counts) -> tuple[Any, Any]:
    """Range that an observed proportion leaves in at most 2.5 % of cases on either side."""
    from scipy.stats import binom

    trials = np.asarray(trials, float)
    return binom.ppf(_TAIL, trials, share) / trials, binom.ppf(1 - _TAIL, trials, share) / trials


def mean_of_shares(
    successes: Float[ndarray, " groups"], trials: Float[ndarray, " groups"]
) -> tuple[float, float, float]:
    """Unweighted mean of several proportions, with its 95 % confidence interval.

    Groups without trials are left out. The exact intervals are combined by the method of Zou and
    Donner (2008), so the interval has a width even if all proportions are 0 or 1.

    Example:
        >>> mean_of_shares(np.array([5.0, 0.0]), np.array([10.0, 0.0]))[0]
        0.5
    """
    successes, trials = successes[trials > 0], trials[trials > 0]
    shares = successes / trials
    low, high = clopper_pearson(successes, trials)
    mean = float(shares.mean())
    down = float(np.sqrt(((shares - low) ** 2).sum())) / len(shares)
    up = float(np.sqrt(((high - shares) ** 2).sum())) / len(shares)
    return mean, max(0.0, mean - down), min(1.0, mean + up)


def bootstrap_interval(
    estimate: float, replicates: Float[Tensor, " replicates"], *, acceleration: float = 0.0
) -> tuple[float, float]:
    """Bias-corrected and accelerated 95 % bootstrap interval (BCa; Efron, 1987).

    Args:
        estimate: The statistic on the data.
        replicates: The statistic on resampled data; NaN are left out.
        acceleration: Efron's acceleration: ``mean_acceleration`` for a mean; 0 corrects the bias
            only.
    """
    defined = replicates[~replicates.isnan()].double().sort().values
    if math.isnan(estimate) or len(defined) == 0:
        return math.nan, math.nan
    count = len(defined)
    # A replicate that equals the estimate up to rounding counts half on either side.
    slack = 1e-6 * abs(estimate) if math.isfinite(estimate) else 0.0
    below = ((defined < estimate - slack).sum() + (defined <= estimate + slack).sum()) / 2
    share = (below / count).clamp(1 / (count + 1), count / (count + 1)).double()
    bias = torch.special.ndtri(share)
    normal = torch.special.ndtri(torch.tensor([_TAIL, 1 - _TAIL], dtype=torch.float64))
    shifted = bias + normal
    level = torch.special.ndtr(bias + shifted / (1 - acceleration * shifted))
    position = (level * (count + 1)).round().long().clamp(1, count) - 1
    low, high = defined[position].tolist()
    return low, high


def shifted_interval(
    estimate: float, replicates: Float[Tensor, " replicates"]
) -> tuple[float, float]:
    """95 % interval of the expected value of a biased, non-negative statistic.

    Noise raises a calibration error, and resampling adds noise a second time, so most replicates
    lie above the estimate. Their spread is right, so this interval centres it on the estimate.
    The expected value refers to as many examples as the data hold. It can be compared with the
    null level, which is the expected value for a calibrated model.
    """
    defined = replicates[~replicates.isnan()].double()
    centre = defined.mean()
    if math.isnan(estimate) or not centre.isfinite() or not math.isfinite(estimate):
        return math.nan, math.nan
    tails = torch.tensor([_TAIL, 1 - _TAIL], dtype=torch.float64)
    low, high = (estimate + defined.quantile(tails) - centre).clamp_min(0).tolist()
    return low, high


def mean_acceleration(values: Float[Tensor, " examples"]) -> float:
    """Acceleration of a mean: skewness / (6 sqrt(n)); 0 if all values are equal."""
    values = values.double()
    centred = values - values.mean()
    squares: float = (centred**2).sum().item()
    if not math.isfinite(squares) or squares == 0:
        return 0.0
    cubes: float = (centred**3).sum().item()
    return cubes / (6 * squares * math.sqrt(squares))
