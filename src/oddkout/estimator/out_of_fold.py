"""The score of a classifier on its own training data, from out-of-fold predictions."""

import math

import numpy as np
from jaxtyping import Float64, Int64, Shaped
from numpy import ndarray

from oddkout.evaluation import Measured


def out_of_fold_score(
    probs: Float64[ndarray, "examples classes"],
    labels: Int64[ndarray, " examples"],
    *,
    groups: Shaped[ndarray, " examples"] | None = None,
) -> Measured | None:
    """NLL of out-of-fold predictions with its 95 % confidence interval; None if there are none.

    Every example is predicted by networks that were not trained on it. The interval is that of a
    mean, by Student's t. Large losses are rare, and a small table may not show any. So the upper
    limit counts one more example, or group of usual size, with the loss log(n + 1): that of an
    event of probability 1 / (n + 1), which n examples may well lack.

    Args:
        probs: Out-of-fold probabilities; NaN for examples that are never scored.
        labels: Their classes, as positions.
        groups: Group of each example; examples of a group are not independent.
    """
    own = probs[np.arange(len(labels)), labels]
    is_scored = ~np.isnan(own)
    nll = -np.log(np.maximum(own[is_scored], 1e-300))
    units = np.arange(len(nll)) if groups is None else np.asarray(groups)[is_scored]
    _, numbers = np.unique(units, return_inverse=True)
    sums, sizes = np.bincount(numbers, weights=nll), np.bincount(numbers).astype(np.float64)
    count = len(sums)
    if count < 2:
        return None
    value, half = _mean_with_half(sums, sizes)
    typical = float(sizes.mean())
    with_unseen = _mean_with_half(
        np.append(sums, typical * math.log(count + 1)), np.append(sizes, typical)
    )
    return Measured(value, max(0.0, value - half), sum(with_unseen))


def _mean_with_half(
    sums: Float64[ndarray, " units"], sizes: Float64[ndarray, " units"]
) -> tuple[float, float]:
    """Mean of examples in independent units, and half the width of its 95 % interval.

    Args:
        sums: Sum of the values of each unit.
        sizes: Number of examples of each unit.
    """
    from scipy.stats import t as student

    count = len(sums)
    mean = float(sums.sum() / sizes.sum())
    squares = float(((sums - mean * sizes) ** 2).sum())
    error = math.sqrt(squares * count / (count - 1)) / float(sizes.sum())
    return mean, float(student.ppf(0.975, count - 1)) * error
