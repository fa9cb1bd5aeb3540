"""Fit to calibration examples: the arguments and checks that sets and referral share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from jaxtyping import Float, Int
from numpy import ndarray

from oddkout.checks import Labels, Matrix, Prior
from oddkout.decisions.inputs import PriorShift, codes, labelled, named

OneCalibrated = TypeVar("OneCalibrated", bound="Calibrated")


@dataclass(frozen=True, kw_only=True)
class CalibrationExamples:
    """Checked calibration examples.

    Attributes:
        probs: Probabilities, for the class frequencies where one decides.
        labels: True classes.
        folds: Number of the member that predicted each example, from 0; None without members.
        groups: Number of the group of each example, from 0; None without groups.
        shift: The change of the class frequencies.
    """

    probs: Float[ndarray, "examples classes"]
    labels: Int[ndarray, " examples"]
    folds: Int[ndarray, " examples"] | None
    groups: Int[ndarray, " examples"] | None
    shift: PriorShift


class Calibrated:
    """A way to decide that is fitted to calibration examples.

    Attributes:
        classes: Names of the classes.
        notes: What a user should know, one sentence each.
    """

    classes: tuple[str, ...]
    notes: tuple[str, ...]
    _shift: PriorShift

    def fit(
        self: OneCalibrated,
        logits: Matrix = None,
        labels: Labels = None,
        *,
        probs: Matrix = None,
        folds: Labels = None,
        groups: Any = None,
        prior: Prior = None,
        train_prior: Prior = None,
        classes: Sequence[str] | None = None,
    ) -> OneCalibrated:
        """Fit the thresholds to calibration examples, which the model must not have seen.

        Args:
            logits: Logits, of shape (examples, classes).
            labels: True classes.
            probs: Probabilities, instead of ``logits``.
            folds: Sets alone, for CV+: number of the member that did not see the example and
                predicted it. ``predict`` then takes the predictions of every member.
            groups: Group of each example, such as the patient. What is promised then refers to an
                example of a new group. In sets each group weighs the same (Lee et al., 2023); for
                referral one example of each group is drawn.
            prior: Class frequencies where one decides. Predictions are moved to them. In sets,
                examples are weighted by their class (Podkopaev and Ramdas, 2021); for referral,
                they are drawn such that their classes are as frequent.
            train_prior: Class frequencies that predictions are for; by default those of the labels.
            classes: Names of the classes.
        """
        rows, truth = labelled(logits, labels, probs=probs)
        count = rows.shape[1]
        self.classes = named(classes, count)
        self._shift = PriorShift(truth, classes=count, prior=prior, train_prior=train_prior)
        self._calibrate(
            CalibrationExamples(
                probs=self._shift.moved(rows),
                labels=truth,
                folds=None if folds is None else codes("folds", folds, examples=len(truth)),
                groups=None if groups is None else codes("groups", groups, examples=len(truth)),
                shift=self._shift,
            )
        )
        return self

    def _calibrate(self, examples: CalibrationExamples) -> None:
        """Fit the thresholds to checked examples."""
        raise NotImplementedError
