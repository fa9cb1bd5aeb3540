"""The calibration error that chance alone gives."""

import numpy as np

_BINS = 15  # bins of the calibration error


def null_ece(examples: int, *, classes: int, draws: int = 200) -> float:
    """Mean ECE of a perfectly calibrated model, which is above 0 because examples are few.

    Assumes confidences that are spread evenly from 1 / classes to 1.

    Args:
        examples: Number of test examples.
        classes: Number of classes.
        draws: Number of simulated test sets.
    """
    rng = np.random.default_rng(0)
    scores = []
    for _ in range(draws if examples else 0):
        confidence = rng.uniform(1 / classes, 1, examples)
        gap = (rng.random(examples) < confidence) - confidence
        bins = np.ceil(confidence * _BINS).astype(int) - 1
        scores.append(np.abs(np.bincount(bins, gap, minlength=_BINS)).sum() / examples)
    return float(np.mean(scores)) if scores else float("nan")
