"""Pool the predictions of several seeds, with intervals as wide as those of one seed.

Seeds usually share their test examples, so their predictions are not independent. Points pool all
seeds, but intervals and bands use the number of examples of one seed.
"""

from collections.abc import Sequence

import numpy as np
import torch

from oddkout.comparing.run import Run
from oddkout.evaluation import ClassResult, Measured
from oddkout.metrics.intervals import binomial_band, clopper_pearson
from oddkout.metrics.predictions import read
from oddkout.metrics.ranking import RiskCoverage
from oddkout.metrics.reliability import ReliabilityCurve


def pooled_reliability(curves: Sequence[ReliabilityCurve]) -> ReliabilityCurve:
    """The pooled reliability curve of several seeds, with the mean of their errors.

    Args:
        curves: One curve per seed, all with the same bins of equal width.
    """
    edges = sorted({float(edge) for curve in curves for edge in curve.high_edge})
    position = {edge: number for number, edge in enumerate(edges)}
    low_edge = np.zeros(len(edges))
    count, confidence, right = np.zeros((3, len(edges)))
    for curve in curves:
        bins = [position[float(edge)] for edge in curve.high_edge]
        low_edge[bins] = curve.low_edge
        count[bins] += curve.count
        confidence[bins] += curve.count * curve.confidence
        right[bins] += curve.count * curve.accuracy
    confidence, accuracy = confidence / count, right / count
    trials = count / len(curves)
    accuracy_low, accuracy_high = clopper_pearson(accuracy * trials, trials)
    null_low, null_high = binomial_band(np.clip(confidence, 0, 1), np.ceil(trials))
    return ReliabilityCurve(
        low_edge=low_edge,
        high_edge=np.array(edges),
        count=count,
        confidence=confidence,
        accuracy=accuracy,
        accuracy_low=np.minimum(accuracy_low, accuracy),
        accuracy_high=np.maximum(accuracy_high, accuracy),
        null_low=null_low,
        null_high=null_high,
        error=float(np.mean([curve.error for curve in curves])),
    )


def mean_risk_coverage(curves: Sequence[RiskCoverage], *, points: int = 100) -> RiskCoverage:
    """The mean risk of several seeds at the same coverages.

    Args:
        curves: One curve per seed.
        points: Number of coverages, evenly spaced up to 1.
    """
    coverage = np.arange(1, points + 1) / points
    risks = [np.interp(coverage, curve.coverage.numpy(), curve.risk.numpy()) for curve in curves]
    area = torch.stack([curve.area for curve in curves]).mean()
    return RiskCoverage(torch.from_numpy(coverage), torch.from_numpy(np.mean(risks, axis=0)), area)


def rare_classes(run: Run) -> list[int]:
    """The third of the classes with the fewest training examples; empty if sizes are similar.

    Sizes are similar if the largest class has at most twice the examples of the smallest.
    """
    counts = np.array(run.train_counts)
    if counts.max() <= 2 * counts.min():
        return []
    ranked = np.argsort(counts, kind="stable")
    return sorted(ranked[: max(len(counts) // 3, 1)].tolist())


def pooled_classes(runs: Sequence[Run], *, is_tempered: bool) -> tuple[list[ClassResult], bool]:
    """Results of the rare classes, and whether there are any; else the results of all classes.

    Each rare class is pooled over the seeds in which it is rare.

    Args:
        runs: The runs of one method, with predictions.
        is_tempered: Whether the out-of-fold temperature is applied.
    """
    rare = [rare_classes(run) for run in runs]
    has_rare = any(rare)
    names = runs[0].classes
    # Rows: examples, right ones, predictions, right ones and their confidence; and number of seeds.
    sums, seeds = np.zeros((5, len(names))), np.zeros(len(names))
    for run, chosen in zip(runs, rare, strict=True):
        predictions = read(logits=run.test_logits(is_tempered=is_tempered), labels=run.labels)
        confidence, predicted = (part.numpy() for part in predictions.top())
        labels = predictions.true_classes.numpy()
        hits = predicted == labels
        counts = np.stack(
            [
                np.bincount(by, weights, minlength=len(names))
                for by, weights in (
                    (labels, None),
                    (labels, hits),
                    (predicted, None),
                    (predicted, hits),
                    (predicted, confidence),
                )
            ]
        )
        kept = chosen if has_rare else list(range(len(names)))
        sums[:, kept] += counts[:, kept]
        seeds[kept] += 1
    return [
        ClassResult(
            name=names[c],
            examples=round(sums[0, c] / seeds[c]),
            accuracy=_share(sums[1, c], sums[0, c], seeds[c]),
            predicted=int(np.ceil(sums[2, c] / seeds[c])),
            precision=_share(sums[3, c], sums[2, c], seeds[c]),
            confidence=float(sums[4, c] / sums[2, c]) if sums[2, c] else float("nan"),
        )
        for c in np.flatnonzero(seeds)
    ], has_rare


def _share(successes: float, trials: float, seeds: float) -> Measured:
    """A share pooled over seeds, with an interval for the number of trials of one seed."""
    low, high = clopper_pearson(successes / seeds, trials / seeds)
    share = successes / trials if trials else float("nan")
    return Measured(float(share), min(float(low), share), max(float(high), share))
