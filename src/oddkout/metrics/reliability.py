"""The reliability curve: accuracy against confidence in bins, with confidence intervals."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from oddkout.checks import Labels, Matrix
from oddkout.metrics.calibration import Binning, BinSums, bin_edges, bin_of_confidence, bin_sums
from oddkout.metrics.intervals import binomial_band, clopper_pearson
from oddkout.metrics.predictions import read

Bins = Float[ndarray, " bins"]


@dataclass(frozen=True, kw_only=True)
class ReliabilityCurve:
    """Accuracy against confidence, with one entry per bin that is not empty.

    Args:
        low_edge: Lower edge of the bin (exclusive).
        high_edge: Upper edge of the bin (inclusive).
        count: Number of examples in the bin.
        confidence: Mean confidence.
        accuracy: Share of correct predictions.
        accuracy_low: Lower limit of the 95 % Clopper-Pearson interval of the accuracy.
        accuracy_high: Upper limit of that interval.
        null_low: A calibrated model has a lower accuracy in at most 2.5 % of cases.
        null_high: A calibrated model has a higher accuracy in at most 2.5 % of cases.
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
    """Accuracy against confidence in bins; ``expected_calibration_error`` explains the bins.

    Example:
        Three of four correct at confidence 0.75: the confidence interval is wide.

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
    return curve_of_sums(sums, edges)


def curve_of_sums(sums: BinSums, edges: Float[ndarray, " edges"]) -> ReliabilityCurve:
    """The curve from the sums of all bins, and their edges."""
    has_examples = (sums.count > 0).cpu().numpy()
    count, right = sums.count.cpu().numpy()[has_examples], sums.hits.cpu().numpy()[has_examples]
    mean = sums.confidence.cpu().numpy()[has_examples] / count
    accuracy_low, accuracy_high = clopper_pearson(right, count)
    null_low, null_high = binomial_band(np.clip(mean, 0, 1), count)
    return ReliabilityCurve(
        low_edge=edges[:-1][has_examples],
        high_edge=edges[1:][has_examples],
        count=count,
        confidence=mean,
        accuracy=right / count,
        accuracy_low=accuracy_low,
        accuracy_high=accuracy_high,
        null_low=null_low,
        null_high=null_high,
        error=sums.expected_error().item(),
    )
