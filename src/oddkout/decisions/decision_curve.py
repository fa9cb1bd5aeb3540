"""The decision curve of a binary problem: net benefit against the threshold (Vickers, 2006)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from oddkout.checks import Labels, Matrix, Number, Prior, matching_labels
from oddkout.decisions.costing import REPLICATES, moved_probabilities
from oddkout.decisions.inputs import PriorShift, share
from oddkout.metrics.intervals import bootstrap_interval

_THRESHOLDS = tuple(round(0.01 * number, 2) for number in range(1, 100))


@dataclass(frozen=True)
class DecisionCurve:
    """Net benefit of acting from a probability on.

    Attributes:
        thresholds: Probabilities of the second class from which one acts. A threshold t says that
            acting in vain costs t / (1 - t) of what is gained by acting rightly.
        benefit: Net benefit per case: right actions, minus t / (1 - t) times actions in vain.
        low: Lower end of its 95 % confidence interval.
        high: Upper end of its 95 % confidence interval.
        all: Net benefit of always acting; that of never acting is 0.
    """

    thresholds: Float[ndarray, " thresholds"]
    benefit: Float[ndarray, " thresholds"]
    low: Float[ndarray, " thresholds"]
    high: Float[ndarray, " thresholds"]
    all: Float[ndarray, " thresholds"]


def decision_curve(
    probs: Matrix = None,
    labels: Labels = None,
    *,
    logits: Matrix = None,
    thresholds: Sequence[Number] = _THRESHOLDS,
    prior: Prior = None,
    train_prior: Prior = None,
    seed: int = 0,
) -> DecisionCurve:
    """Net benefit of acting if the second of two classes is probable enough.

    Args:
        probs: Class probabilities.
        labels: True classes.
        logits: Logits, instead of ``probs``.
        thresholds: Probabilities from which one acts.
        prior: Class frequencies where one decides.
        train_prior: Class frequencies that the probabilities are for; required with ``prior``.
        seed: Seed of the bootstrap.

    Example:
        At 0.5, one of four cases is treated rightly and one in vain.

        >>> probs = [[0.2, 0.8], [0.4, 0.6], [0.9, 0.1], [0.7, 0.3]]
        >>> curve = decision_curve(probs, [1, 0, 0, 1], thresholds=[0.5])
        >>> curve.benefit.tolist(), curve.all.tolist()
        ([0.0], [0.0])
    """
    rows = moved_probabilities(probs, logits=logits, prior=prior, train_prior=train_prior)
    if rows.shape[1] != 2:
        raise ValueError(
            f"a decision curve needs 2 classes, got {rows.shape[1]}; add up the probabilities of "
            "the classes that call for action"
        )
    truth = matching_labels(labels, examples=len(rows), classes=2).cpu().numpy()
    points = np.array([share("thresholds", one) for one in thresholds])
    odds = points / (1 - points)
    gain = np.where(truth[:, None] == 1, 1.0, -odds)
    acted = np.where(rows[:, 1:] >= points, gain, 0.0)
    weights = PriorShift(truth, classes=2, prior=prior).weights[truth]
    mean = weights / weights.sum()
    drawn = np.random.default_rng(seed).multinomial(
        len(truth), np.full(len(truth), 1 / len(truth)), size=REPLICATES
    )
    shares = drawn * weights
    replicates = (shares / shares.sum(axis=1, keepdims=True)) @ acted
    benefit = mean @ acted
    limits = [
        bootstrap_interval(float(value), torch.from_numpy(replicates[:, number].copy()))
        for number, value in enumerate(benefit)
    ]
    return DecisionCurve(
        thresholds=points,
        benefit=benefit,
        low=np.array([low for low, _ in limits]),
        high=np.array([high for _, high in limits]),
        all=mean @ gain,
    )
