"""Held-out predictions: what a fitted classifier keeps to decide by."""

from dataclasses import dataclass

from jaxtyping import Float64, Int64
from numpy import ndarray

from oddkout.decisions.promises import Source


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Predictions of training examples by networks that did not see them.

    Attributes:
        logits: Calibrated logits, each fold with a calibration fitted to the other folds.
        labels: Classes.
        folds: Number of the member that did not see the example.
        groups: Number of the group of each example; None without groups.
        source: How these networks relate to the classifier; see ``Source``.
    """

    logits: Float64[ndarray, "examples classes"]
    labels: Int64[ndarray, " examples"]
    folds: Int64[ndarray, " examples"]
    groups: Int64[ndarray, " examples"] | None
    source: Source
