"""What prediction sets promise: the coverage that a theorem guarantees, and in what words."""

from typing import Literal

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

# Where the scores of the calibration examples come from. "split": the model that predicts, which
# never saw them. "members": each from the member that did not see its fold, and all members decide
# on new examples together (CV+). "others": from models that do not predict themselves, such as
# fold members whose ensemble, or a network trained on everything, predicts.
Source = Literal["split", "members", "others"]


def promised_coverage(
    sizes: Int[ndarray, " classes"], *, alpha: float, source: Source, folds: int
) -> Float[ndarray, " classes"]:
    """Coverage that is guaranteed from each number of calibration examples.

    Split: 1 - alpha. CV+ from K folds: 1 - 2 alpha, minus the smaller of 2 (1 - 1/K) / (n/K + 1)
    and (1 - K/n) / (K + 1) (Barber et al., 2021; Romano et al., 2020); usually the coverage is
    close to 1 - alpha. Scores of other models guarantee nothing.

    Args:
        sizes: Numbers of calibration examples.
        alpha: 1 minus the coverage that is asked for.
        source: Where the scores come from.
        folds: Number of folds, for ``"members"``.

    Example:
        >>> promised_coverage(np.array([200]), alpha=0.1, source="members", folds=5).round(3)
        array([0.761])
    """
    if source == "split":
        return np.full(len(sizes), 1 - alpha)
    if source == "others":
        return np.zeros(len(sizes))
    count = np.maximum(sizes.astype(float), folds)
    excess = np.minimum(
        2 * (1 - 1 / folds) / (count / folds + 1), (1 - folds / count) / (folds + 1)
    )
    return np.asarray(np.maximum(1 - 2 * alpha - excess, 0.0))
