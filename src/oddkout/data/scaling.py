"""Standardise columns of numbers, however large they are."""

from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray


def fitted_scaler(numbers: Float[ndarray, "rows columns"]) -> Any:
    """A ``StandardScaler`` that is fitted to columns whose squares may overflow.

    The deviation of such a column is its largest distance from the mean.

    Args:
        numbers: Finite numbers.

    Example:
        >>> fitted_scaler(np.array([[1e300], [0.0]])).scale_.tolist()
        [5e+299]
    """
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    with np.errstate(over="ignore", invalid="ignore"):
        scaler.fit(numbers)
        is_far = ~np.isfinite(scaler.mean_) | ~np.isfinite(scaler.var_)
        mean = np.where(is_far, (numbers / len(numbers)).sum(axis=0), scaler.mean_)
        largest = np.abs(numbers - mean).max(axis=0)
    scaler.mean_, scaler.scale_ = mean, np.where(is_far, largest, scaler.scale_)
    return scaler
