"""The Brier score and its parts."""

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
        uncertainty: Score of always predicting the class frequencies.
        resolution: How much better binned predictions tell the classes apart; more is better.
        reliability: How far binned predictions are from the frequencies; less is better.
        within_bins: What remains because a bin holds different probabilities; 0 if it does not.
    """

    uncertainty: Tensor
    resolution: Tensor
    reliability: Tensor
    within_bins: Tensor


def brier_score(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, ""]:
    """Mean squared distance of the probabilities from the true class, summed over classes: 0 to 2.

    Twice what scikit-learn reports for two classes by default.

    Example:
        >>> brier_score([[0.5, 0.5]], [0]).item()
        0.5
    """
    return brier_scores(read(probs=probs, logits=logits, labels=labels)).mean()


def brier_decomposition(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None, bins: int = 15
) -> BrierParts:
    """Parts of the Brier score (Murphy, 1973), class by class over equal-width bins, added up.

    Example:
        One prediction for all has no resolution; its reliability is 2 * (0.75 - 0.5) ** 2.

        >>> parts = brier_decomposition([[0.75, 0.25]] * 4, [0, 0, 1, 1])
        >>> tuple(round(part.item(), 4) for part in parts)
        (0.5, 0.0, 0.125, 0.0)
    """
    predictions = read(probs=probs, logits=logits, labels=labels)
    sums = classwise_bin_sums(predictions, bins=bins)
    uncertainty, resolution, reliability = decomposed(sums)
    whole = brier_scores(predictions).mean()
    rest = whole - (uncertainty - resolution + reliability)
    return BrierParts(uncertainty, resolution, reliability, rest)


def brier_scores(predictions: Predictions) -> Float[Tensor, " examples"]:
    """Brier score of every checked prediction, in double precision."""
    found = predictions.values.new_empty(predictions.shape[0], dtype=torch.float64)
    labels = predictions.true_classes[:, None]
    for place, probs in predictions.probability_blocks():
        true = probs.gather(1, labels[place])[:, 0].double()
        squares = (probs**2).sum(dim=1, dtype=torch.float64)
        found[place] = squares - 2 * true + 1
    return found


def decomposed(sums: BinSums) -> tuple[Tensor, Tensor, Tensor]:
    """Uncertainty, resolution and reliability from sums over (bins, classes, ...)."""
    examples = sums.count.sum(dim=0, keepdim=True)
    base = sums.hits.sum(dim=0, keepdim=True) / examples
    held = sums.count.clamp_min(1)
    uncertainty = (base * (1 - base)).sum(dim=(0, 1))
    resolution = (sums.count * (sums.hits / held - base) ** 2 / examples).sum(dim=(0, 1))
    reliability = (sums.gap**2 / held / examples).sum(dim=(0, 1))
    return uncertainty, resolution, reliability
