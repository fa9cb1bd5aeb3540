"""Held-out predictions: what a fitted classifier keeps to decide by."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float64, Int64
from numpy import ndarray

from oddkout.checks import Number
from oddkout.decisions.promises import Source
from oddkout.decisions.referral import Referral
from oddkout.decisions.sets import PredictionSets


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

    def sets(
        self, coverage: Number, *, by_class: bool, classes: Sequence[str], **shift: Any
    ) -> PredictionSets:
        """Prediction sets; with members, they take the predictions of every one of them.

        Args:
            coverage: Share of cases whose set holds the true class.
            by_class: Whether it holds for each class.
            classes: Names of the classes.
            **shift: ``prior`` and ``train_prior`` of ``PredictionSets.fit``; see ``prior_shift``.
        """
        folds = self.folds if self.source == "members" else None
        return PredictionSets(coverage, by_class=by_class).fit(
            self.logits, self.labels, folds=folds, groups=self.groups, classes=classes, **shift
        )

    def referral(
        self, risk: Number, *, by_class: bool, classes: Sequence[str], **shift: Any
    ) -> Referral:
        """Referral at a stated risk.

        Args:
            risk: Largest error rate among answered cases.
            by_class: Whether it holds for the answers of each class.
            classes: Names of the classes.
            **shift: ``prior`` and ``train_prior`` of ``Referral.fit``; see ``prior_shift``.
        """
        return Referral(risk=risk, by_class=by_class).fit(
            self.logits, self.labels, groups=self.groups, classes=classes, **shift
        )


def prior_shift(
    *, stated: Sequence[float], train: Sequence[float], prior: Sequence[float] | None = None
) -> dict[str, Any]:
    """How held-out predictions are moved to the class frequencies where one decides.

    Held-out examples occur as in training; they are weighted if predictions are for something else.

    Args:
        stated: Class frequencies that predictions are for.
        train: Class frequencies of the training data.
        prior: Class frequencies where one decides; by default those that predictions are for.

    Example:
        >>> prior_shift(stated=(0.5, 0.5), train=(0.5, 0.5))
        {}
        >>> prior_shift(stated=(0.5, 0.5), train=(0.9, 0.1))
        {'prior': (0.5, 0.5), 'train_prior': (0.5, 0.5)}
    """
    target = prior if prior is not None or tuple(stated) == tuple(train) else stated
    return {} if target is None else {"prior": target, "train_prior": stated}
