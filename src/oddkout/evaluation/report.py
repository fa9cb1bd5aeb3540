"""The result of an evaluation: metrics with confidence intervals and null levels."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from jaxtyping import Int
from torch import Tensor

from oddkout.evaluation.examples import Examples
from oddkout.evaluation.measured import ClassResult, GuessScore, Measured
from oddkout.evaluation.text import class_table, confusion_table, metric_head, metric_line
from oddkout.metrics.catalogue import METRICS
from oddkout.metrics.ranking import RiskCoverage
from oddkout.metrics.reliability import ReliabilityCurve

# Smallest calibration error that the verdict calls miscalibration. With enough examples every model
# is significantly miscalibrated. A gap g at probability p costs g ** 2 / (2 p (1 - p)) in NLL:
# 0.005 at 0.9 costs 0.00014, a hundredth of a percent of the probability of the true class.
FLOOR = 0.005

# Largest number of classes whose confusion matrix is written to JSON: it grows with their square.
_MOST_CLASSES = 100


@dataclass(frozen=True, kw_only=True, repr=False)
class Evaluation:
    """All metrics of one set of predictions; ``print`` shows them as a table.

    Args:
        metrics: The metrics by name; ``evaluation["ece"]`` is ``evaluation.metrics["ece"]``.
        classes: Results of each class.
        confusion: Number of examples of each true class (row) by predicted class (column).
        groups: Accuracy on head, middle and tail classes, if training labels were given.
        reliability: Accuracy against confidence; its intervals take all examples as independent.
        risk_coverage: Error rate among the most confident predictions.
        examples: Per-example values, such as confidence and cross-entropy.
        guess: What guessing scores, which ``metrics["skill"]`` is measured against.
        group_count: Number of groups of dependent examples, such as patients; None without groups.
        notes: Warnings about metrics that are infinite or undefined.
        replicates: Number of bootstrap replicates, and of draws for the null level.
        seed: Seed of the replicates and the draws.
    """

    metrics: dict[str, Measured]
    classes: list[ClassResult]
    confusion: Int[Tensor, "classes classes"]
    groups: dict[str, Measured]
    reliability: ReliabilityCurve
    risk_coverage: RiskCoverage
    examples: Examples
    guess: GuessScore
    group_count: int | None
    notes: list[str]
    replicates: int
    seed: int

    def __getitem__(self, name: str) -> Measured:
        return self.metrics[name]

    @property
    def verdict(self) -> str:
        """Whether there is evidence of miscalibration, in one sentence.

        Two errors are tested at the 2.5 % level: ECE and classwise ECE. A calibrated model is
        therefore called miscalibrated in at most 5 % of cases. Errors that are too small to matter
        are not called miscalibration even if they are significant: an ECE below 0.005, and a
        classwise ECE that moves less than 0.005 of the probability from the right classes to wrong
        ones, which is half its sum over the classes.
        """
        ece, classwise = self["ece"], self["classwise_ece"]
        assert ece.null is not None, "evaluate gives every calibration error its null level"
        assert classwise.null is not None, "evaluate gives every calibration error its null level"
        if ece.null.is_exceeded and ece.value >= FLOOR:
            return f"evidence of {self._fault}: {self._against_null('ece')}"
        moved = classwise.value * len(self.classes) / 2
        if classwise.null.is_exceeded and moved >= FLOOR:
            comparison = self._against_null("classwise_ece")
            return f"evidence of miscalibrated classes, though not of confidence: {comparison}"
        if ece.null.is_exceeded or classwise.null.is_exceeded:
            name = "ece" if ece.null.is_exceeded else "classwise_ece"
            return (
                f"no relevant miscalibration: {self._against_null(name)}; this is significant, but "
                f"errors below {FLOOR:g} are too small to matter"
            )
        return (
            f"no evidence of miscalibration: {self._against_null('ece')}; an ECE up to "
            f"{ece.null.high:.3g} is within chance here"
        )

    @property
    def _size(self) -> str:
        """Number of examples and groups, in words."""
        count = f"{len(self.examples):,} examples"
        return count if self.group_count is None else f"{count} in {self.group_count:,} groups"

    @property
    def _fault(self) -> str:
        """Overconfidence or underconfidence if the difference to accuracy is significant."""
        accuracy, confidence = self["accuracy"], self["confidence"].value
        if confidence > accuracy.high:
            return "overconfidence"
        return "underconfidence" if confidence < accuracy.low else "miscalibration"

    def _against_null(self, name: str) -> str:
        """Compare a calibration error with its null level."""
        measured = self[name]
        assert measured.null is not None, "only calibration errors have a null level"
        return (
            f"{METRICS[name].title} {measured.value:.3g}, while a perfectly calibrated model "
            f"scores {measured.null.mean:.3g} on {self._size} (p = {measured.null.p_value:.2g})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the per-example values, for JSON; NaN and infinity become ``None``.

        The confusion matrix of more than 100 classes is left out: ``None``.
        """
        curve = {
            name: value if isinstance(value, float) else value.tolist()
            for name, value in vars(self.reliability).items()
        }
        is_small = len(self.classes) <= _MOST_CLASSES
        return {
            "examples": len(self.examples),
            "group_count": self.group_count,
            "verdict": self.verdict,
            "notes": self.notes,
            "metrics": {name: _plain(measured) for name, measured in self.metrics.items()},
            "guess": _finite(asdict(self.guess)),
            "classes": [
                _plain(result) | {"recall": _plain(result.recall)} for result in self.classes
            ],
            "confusion": self.confusion.tolist() if is_small else None,
            "groups": {name: _plain(measured) for name, measured in self.groups.items()},
            "reliability": curve,
            "replicates": self.replicates,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        lines = [f"{self._size}, {len(self.classes)} classes"]
        if self.group_count is not None:
            lines.append(
                "intervals and null levels take the examples of a group as dependent on each other"
            )
        lines += ["", metric_head()]
        lines += [metric_line(METRICS[name].title, part) for name, part in self.metrics.items()]
        accuracy = METRICS["accuracy"].title
        lines += [
            metric_line(f"{accuracy} of the {name}", part) for name, part in self.groups.items()
        ]
        lines += ["", *class_table(self.classes)]
        if matrix := confusion_table(self.confusion, [result.name for result in self.classes]):
            lines += ["", *matrix]
        return "\n".join([*lines, "", *self.notes, str(self.guess), self.verdict])

    __repr__ = __str__


def _plain(result: Measured | ClassResult) -> dict[str, Any]:
    """A result as plain values."""
    values: dict[str, Any] = _finite(asdict(result))
    return values


def _finite(value: Any) -> Any:
    """Replace NaN and infinity, which JSON lacks, by ``None``; leave out a missing null level."""
    if isinstance(value, dict):
        kept = {name: part for name, part in value.items() if (name, part) != ("null", None)}
        return {name: _finite(part) for name, part in kept.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
