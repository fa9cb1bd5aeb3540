"""The Brier score and its decomposition."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Labels, Matrix
from oddkout.metrics.calibration import BinSums, classwise_bin_sums
from oddkout.metrics.predictions import Predictions, read


class BrierParts(NamedTuple):
    """Parts of the Brier score: uncertainty - resolution + reliability + within_bins.

    Args:
        uncertainty: Brier score of always predicting the class frequencies.
        resolution: How much the class frequencies differ between bins; higher is better.
        reliability: Squared gap between predictions and class frequencies; lower is better.
        within_bins: Remainder, because probabilities differ within a bin; 0 if they do not.
    """

    uncertainty: Tensor
    resolution: Tensor
    reliability: Tensor
    within_bins: Tensor


def brier_score(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, ""]:
    """Mean squared error of the probabilities, summed over the classes: 0 to 2.

    For two classes this is twice scikit-learn's default.

    Example:
        >>> brier_score([[0.5, 0.5]], [0]).item()
        0.5
    """
    return brier_scores(read(probs=probs, logits=logits, labels=labels)).mean()


def brier_decomposition(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None, bins: int = 15
) -> BrierParts:
    """Decompose the Brier score (Murphy, 1973).

    Each class is decomposed over equal-width bins of its probability; the parts are then summed
    over the classes.

    Example:
        A constant prediction has no resolution; its reliability is 2 * (0.75 - 0.5) ** 2.

        >>> parts = brier_decomposition([[0.75, 0.25]] * 4, [0, 0, 1, 1])
        >>> tuple(round(part.item(), 4) for part in parts)
        (0.5, 0.0, 0.125, 0.0)
    """
    predictions = read(probs=probs, logits=logits, labels=labels)
    sums = classwise_bin_sums(predictions, bins=bins)
    uncertainty, resolution, reliability = decomposed(sums)
    score = brier_scores(predictions).mean()
    within_bins = score - (uncertainty - resolution + reliability)
    return BrierParts(uncertainty, resolution, reliability, within_bins)


def brier_scores(predictions: Predictions) -> Float[Tensor, " examples"]:
    """Brier score of each example, in double precision."""
    scores = predictions.values.new_empty(predictions.shape[0], dtype=torch.float64)
    labels = predictions.true_classes[:, None]
    for block, probs in predictions.probability_blocks():
        true = probs.gather(1, labels[block])[:, 0].double()
        squares = (probs**2).sum(dim=1, dtype=torch.float64)
        scores[block] = squares - 2 * true + 1
    return scores


def decomposed(sums: BinSums) -> tuple[Tensor, Tensor, Tensor]:
    """Uncertainty, resolution and reliability from sums of shape (bins, classes, ...)."""
    examples = sums.count.sum(dim=0, keepdim=True)
    base_rate = sums.hits.sum(dim=0, keepdim=True) / examples
    count = sums.count.clamp_min(1)  # no division by 0 in empty bins, which weigh nothing
    uncertainty = (base_rate * (1 - base_rate)).sum(dim=(0, 1))
    resolution = (sums.count * (sums.hits / count - base_rate) ** 2 / examples).sum(dim=(0, 1))
    reliability = (sums.gap**2 / count / examples).sum(dim=(0, 1))
    return uncertainty, resolution, reliability
