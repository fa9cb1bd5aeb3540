"""What a committed line keeps of a run's predictions: enough for the paper's figures and claims.

Predictions are too large to commit. Their digest has the sums of the reliability diagram, a
histogram of the entropies, and what a temperature or another prior would give.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from torch import Tensor

from oddkout.calibrators.adjusted_temperature import AdjustedTemperature
from oddkout.calibrators.calibrator import Calibrator
from oddkout.calibrators.cross_fitting import cross_fitted
from oddkout.comparing.run import Run
from oddkout.fitting.judging import BINS
from oddkout.metrics.calibration import (
    BinSums,
    bin_edges,
    bin_of_confidence,
    bin_sums,
    expected_calibration_error,
)
from oddkout.metrics.reliability import ReliabilityCurve, curve_of_sums

# Groups of numbers, by name.
Digest = dict[str, dict[str, Any]]

# Bins of the entropy, from 0 to log C; the boundary of the middle two is half of log C.
ENTROPY_BINS = 50


def digest(run: Run) -> Digest:
    """The digest of a run's predictions; empty without predictions.

    ``reliability`` has the number of examples, of hits, and the sum of confidences in each of ten
    bins. ``entropy`` counts correct and wrong predictions by their entropy. ``temperature`` has
    the metrics with a temperature, fitted to one half of the test part for the other half, and
    ``adjusted`` with strength of prior adjustment and temperature; see ``AdjustedTemperature``.
    """
    if run.logits is None or run.labels is None:
        return {}
    logits = torch.from_numpy(run.logits).double()
    labels = torch.from_numpy(run.labels)
    confidence, predicted = logits.softmax(dim=1).max(dim=1)
    hits = predicted == labels
    bin_of = bin_of_confidence(confidence, bins=BINS)
    sums = bin_sums(confidence, hits.double(), bin_of, bins=BINS)
    counts = _entropy_counts(logits, hits)
    found: Digest = {
        "reliability": {
            "examples": _whole(sums.count),
            "hits": _whole(sums.hits),
            "confidence": sums.confidence.tolist(),
        },
        "entropy": {"correct": _whole(counts[0]), "wrong": _whole(counts[1])},
    }
    return found | _calibrated(logits, labels, run.train_counts)


def reliability(run: Run) -> ReliabilityCurve | None:
    """The reliability diagram of a run; none without a digest."""
    if (kept := run.extras.get("reliability")) is None:
        return None
    count, hits, confidence = (
        torch.tensor(kept[name], dtype=torch.float64) for name in ("examples", "hits", "confidence")
    )
    edges = bin_edges(confidence, bins=len(count))
    return curve_of_sums(BinSums(count=count, confidence=confidence, hits=hits), edges.numpy())


def entropies(
    run: Run, *, classes: int
) -> tuple[Float[ndarray, " examples"], Bool[ndarray, " examples"]] | None:
    """Entropy of each prediction, to the width of a bin, and whether it is correct."""
    if (kept := run.extras.get("entropy")) is None:
        return None
    middles = (np.arange(ENTROPY_BINS) + 0.5) / ENTROPY_BINS * np.log(classes)
    parts = [np.repeat(middles, kept[name]) for name in ("correct", "wrong")]
    return np.concatenate(parts), np.repeat([True, False], [len(part) for part in parts])


def certainty(run: Run) -> tuple[float, float] | None:
    """Share of correct predictions with an entropy below half of log C, and of wrong ones above.

    None without a digest, or if all predictions are correct or wrong.
    """
    if (kept := run.extras.get("entropy")) is None:
        return None
    correct, wrong = (np.asarray(kept[name]) for name in ("correct", "wrong"))
    if not (correct.any() and wrong.any()):
        return None
    half = ENTROPY_BINS // 2
    return float(correct[:half].sum() / correct.sum()), float(wrong[half:].sum() / wrong.sum())


def _entropy_counts(
    logits: Float[Tensor, "examples classes"], hits: Bool[Tensor, " examples"]
) -> Int[Tensor, "2 bins"]:
    """Number of correct and of wrong predictions in each bin of the entropy."""
    log_probs = logits.log_softmax(dim=1)
    entropy = -(log_probs.exp() * log_probs).sum(dim=1)
    position = (ENTROPY_BINS / np.log(logits.shape[1]) * entropy).long().clamp(0, ENTROPY_BINS - 1)
    rows = [position[chosen].bincount(minlength=ENTROPY_BINS) for chosen in (hits, ~hits)]
    return torch.stack(rows)


def _calibrated(
    logits: Float[Tensor, "examples classes"],
    labels: Int[Tensor, " examples"],
    train_counts: Sequence[int],
) -> Digest:
    """Metrics with a temperature, and with prior adjustment, fitted to one half for the other."""
    halves = torch.arange(len(labels)) % 2
    frequencies = np.maximum(train_counts, 1) / np.maximum(train_counts, 1).sum()

    def fit(rows: Tensor, classes: Tensor, *, has_strength: bool) -> Calibrator:
        return AdjustedTemperature(frequencies).fit(rows, classes, has_strength=has_strength)

    metrics: Digest = {}
    for name, has_strength in (("temperature", False), ("adjusted", True)):
        if has_strength and len(set(train_counts)) < 2:  # it would change nothing
            continue
        fitted = cross_fitted(partial(fit, has_strength=has_strength), logits, labels, folds=halves)
        log_probs = fitted.logits.log_softmax(dim=1)
        error = expected_calibration_error(logits=fitted.logits, labels=labels, bins=BINS)
        metrics[name] = {
            "accuracy": (log_probs.argmax(dim=1) == labels).double().mean().item(),
            "nll": -log_probs.gather(1, labels[:, None]).mean().item(),
            "ece": error.item(),
        }
    return metrics


def _whole(counts: Tensor) -> list[int]:
    return [int(count) for count in counts.tolist()]
