"""The score of a classifier on its own training data, from out-of-fold predictions."""

import numpy as np
from jaxtyping import Float64, Int64, Shaped
from numpy import ndarray

from oddkout.evaluation.report import Measured


def out_of_fold_score(
    probs: Float64[ndarray, "examples classes"],
    labels: Int64[ndarray, " examples"],
    *,
    groups: Shaped[ndarray, " examples"] | None = None,
) -> Measured | None:
    """NLL of out-of-fold predictions with its 95 % confidence interval; None if there are none.

    Every example is predicted by networks that were not trained on it. Networks of all folds
    together predict slightly better, so that the score is on the safe side.

    Args:
        probs: Out-of-fold probabilities; NaN for examples that are never scored.
        labels: Their classes, as positions.
        groups: Group of each example; examples of a group are not independent.
    """
    from scipy.stats import t as student

    own = probs[np.arange(len(labels)), labels]
    is_scored = ~np.isnan(own)
    if is_scored.sum() < 2:
        return None
    nll = -np.log(np.maximum(own[is_scored], 1e-300))
    value, units = float(nll.mean()), len(nll)
    residual = nll - value
    if groups is not None:
        _, numbers = np.unique(np.asarray(groups)[is_scored], return_inverse=True)
        residual = np.bincount(numbers, weights=residual)
        units = len(residual)
    if units < 2:
        return None
    deviation = float(np.sqrt((residual**2).sum() * units / (units - 1))) / len(nll)
    half = float(student.ppf(0.975, units - 1)) * deviation
    return Measured(value, max(0.0, value - half), value + half)
