"""The reliability curve: accuracy against confidence, bin by bin, with its uncertainty."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from oddkout.checks import Labels, Matrix
from oddkout.metrics.calibration import Binning, bin_edges, bin_of_confidence, bin_sums
from oddkout.metrics.intervals import binomial_band, clopper_pearson
from oddkout.metrics.predictions import read

Bins = Float[ndarray, " bins"]


@dataclass(frozen=True, kw_only=True)
class ReliabilityCurve:
    """One entry per bin that is not empty.

    Args:
        low_edge: Lower limit of the bin, outside of it.
        high_edge: Upper limit of the bin, inside of it.
        count: Examples in the bin.
        confidence: Their mean confidence.
        accuracy: Share of them that is right.
        accuracy_low: Lower limit of the 95 % Clopper-Pearson interval of the accuracy.
        accuracy_high: Its upper limit.
        null_low: Accuracy below which a calibrated model falls in at most 2.5 % of cases.
        null_high: Accuracy above which it rises in at most 2.5 % of cases.
        error: Expected calibration error over these bins.
    """

    low_edge: Bins
    high_edge: Bins
    count: Bins
    confidence: Bins
    accuracy: Bins
    accuracy_low: Bins
    accuracy_high: Bins
    null_low: Bins
    null_high: Bins
    error: float


def reliability_curve(
    probs: Matrix = None,
    labels: Labels = None,
    *,
    logits: Matrix = None,
    bins: int = 15,
    binning: Binning = "equal-width",
) -> ReliabilityCurve:
    """Accuracy against confidence in bins; see ``expected_calibration_error`` for the bins.

    Example:
        Three of four right at confidence 0.75; the interval of 3 in 4 is wide.

        >>> curve = reliability_curve([[0.75, 0.25]] * 4, [0, 0, 0, 1], bins=4)
        >>> curve.accuracy.tolist(), curve.confidence.tolist()
        ([0.75], [0.75])
        >>> curve.accuracy_low.round(3).tolist(), curve.accuracy_high.round(3).tolist()
        ([0.194], [0.994])
    """
    confidence, hits = read(probs=probs, logits=logits, labels=labels).confidence_and_hits()
    edges = bin_edges(confidence, bins=bins, binning=binning).double().cpu().numpy()
    bin_of = bin_of_confidence(confidence, bins=bins, binning=binning)
    sums = bin_sums(confidence, hits, bin_of, bins=bins)
    held = sums.count > 0
    count, right = sums.count[held].cpu().numpy(), sums.hits[held].cpu().numpy()
    mean = sums.confidence[held].cpu().numpy() / count
    accuracy_low, accuracy_high = clopper_pearson(right, count)
    null_low, null_high = binomial_band(np.clip(mean, 0, 1), count)
    return ReliabilityCurve(
        low_edge=edges[:-1][held.cpu()],
        high_edge=edges[1:][held.cpu()],
        count=count,
        confidence=mean,
        accuracy=right / count,
        accuracy_low=accuracy_low,
        accuracy_high=accuracy_high,
        null_low=null_low,
        null_high=null_high,
        error=sums.expected_error().item(),
    )
