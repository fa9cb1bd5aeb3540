"""How well confidence separates correct from wrong predictions: AUROC and risk-coverage curve."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Labels, Matrix
from oddkout.metrics.predictions import read


class RiskCoverage(NamedTuple):
    """Error rate among the most confident predictions.

    Args:
        coverage: Share of examples answered, most confident first; ties are answered together.
        risk: Error rate among the answered examples.
        area: Risk averaged over coverage.
    """

    coverage: Tensor
    risk: Tensor
    area: Tensor


def correctness_auroc(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, ""]:
    """Probability that a correct prediction is more confident than a wrong one; ties count half.

    It is NaN if all predictions are correct or all are wrong.

    Example:
        Correct at 0.9 and at 0.6, wrong at 0.7: one of the two pairs is in order.

        >>> correctness_auroc([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]], [0, 0, 1]).item()
        0.5
    """
    confidence, hits = read(probs=probs, logits=logits, labels=labels).confidence_and_hits()
    group, groups = confidence_groups(confidence)
    return grouped_auroc(*_hits_and_misses(hits, group, groups))


def risk_coverage(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> RiskCoverage:
    """Error rate against coverage when the least confident predictions are withheld.

    Example:
        >>> curve = risk_coverage([[0.9, 0.1], [0.6, 0.4]], [0, 1])
        >>> curve.coverage.tolist(), curve.risk.tolist(), curve.area.item()
        ([0.5, 1.0], [0.0, 0.5], 0.25)
    """
    confidence, hits = read(probs=probs, logits=logits, labels=labels).confidence_and_hits()
    group, groups = confidence_groups(confidence)
    right, wrong = _hits_and_misses(hits, group, groups)
    coverage, risk = _risk_at_coverage(right, wrong)
    return RiskCoverage(coverage / len(hits), risk, grouped_risk(right, wrong))


def confidence_groups(
    confidence: Float[Tensor, " examples"],
) -> tuple[Int[Tensor, " examples"], int]:
    """Rank of each confidence among the distinct values, lowest first, and their number."""
    distinct, group = torch.unique(confidence, return_inverse=True)
    return group, len(distinct)


def grouped_auroc(right: Tensor, wrong: Tensor) -> Tensor:
    """AUROC from the number of correct and wrong predictions per group of equal confidence.

    Axis 0 holds the groups; further axes, such as bootstrap replicates, are kept.
    """
    wrong_below = wrong.cumsum(dim=0) - wrong
    in_order = (right * (wrong_below + wrong / 2)).sum(dim=0)
    return in_order / (right.sum(dim=0) * wrong.sum(dim=0))


def grouped_risk(right: Tensor, wrong: Tensor) -> Tensor:
    """Area under the risk-coverage curve, from the same numbers as ``grouped_auroc``."""
    coverage, risk = _risk_at_coverage(right, wrong)
    step = coverage.diff(dim=0, prepend=torch.zeros_like(coverage[:1]))
    return (step * risk).sum(dim=0) / coverage[-1]


def _risk_at_coverage(right: Tensor, wrong: Tensor) -> tuple[Tensor, Tensor]:
    """Number of answered examples, most confident first, and the error rate among them."""
    answered = (right + wrong).flip(0).cumsum(dim=0)
    return answered, wrong.flip(0).cumsum(dim=0) / answered.clamp_min(1)


def _hits_and_misses(
    hits: Float[Tensor, " examples"], group: Int[Tensor, " examples"], groups: int
) -> tuple[Float[Tensor, " groups"], Float[Tensor, " groups"]]:
    """Number of correct and number of wrong predictions per group."""
    zeros = torch.zeros(groups, dtype=torch.float64, device=hits.device)
    right = zeros.index_add(0, group, hits.double())
    return right, group.bincount(minlength=groups) - right
