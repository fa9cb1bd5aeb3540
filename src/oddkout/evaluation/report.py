"""The result of an evaluation: metrics with confidence intervals and null levels."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from oddkout.evaluation.resampling import Examples
from oddkout.metrics.catalogue import METRICS
from oddkout.metrics.ranking import RiskCoverage
from oddkout.metrics.reliability import ReliabilityCurve

# Significance level of each of the two tests behind the verdict: 5 % in all (Bonferroni).
_LEVEL = 0.025


@dataclass(frozen=True)
class NullLevel:
    """The calibration error of a perfectly calibrated model with the same predictions.

    Args:
        mean: Mean of its error.
        high: 95th percentile of its error.
        p_value: Probability that its error is at least the measured one.
    """

    mean: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Measured:
    """A value with its 95 % confidence interval and, for a calibration error, its null level."""

    value: float
    low: float
    high: float
    null: NullLevel | None = None


@dataclass(frozen=True, kw_only=True)
class ClassResult:
    """Accuracy (recall), precision and confidence of one class.

    Args:
        examples: Number of examples of the class.
        accuracy: Share of these examples that are predicted as the class.
        predicted: Number of examples predicted as the class.
        precision: Share of these predictions that are correct.
        confidence: Mean confidence of these predictions; equal to precision if calibrated.
    """

    name: str
    examples: int
    accuracy: Measured
    predicted: int
    precision: Measured
    confidence: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Evaluation:
    """All metrics of one set of predictions; ``print`` shows them as a table.

    Args:
        metrics: The metrics by name; ``evaluation["ece"]`` is ``evaluation.metrics["ece"]``.
        classes: Results of each class.
        groups: Accuracy on head, middle and tail classes, if training labels were given.
        reliability: Accuracy against confidence.
        risk_coverage: Error rate among the most confident predictions.
        examples: Per-example values, such as confidence and cross-entropy.
        notes: Warnings about metrics that are infinite or undefined.
        replicates: Number of bootstrap replicates, and of draws for the null level.
        seed: Seed of the replicates and the draws.
    """

    metrics: dict[str, Measured]
    classes: list[ClassResult]
    groups: dict[str, Measured]
    reliability: ReliabilityCurve
    risk_coverage: RiskCoverage
    examples: Examples
    notes: list[str]
    replicates: int
    seed: int

    def __getitem__(self, name: str) -> Measured:
        return self.metrics[name]

    @property
    def verdict(self) -> str:
        """Whether there is evidence of miscalibration, in one sentence.

        Two errors are tested at the 2.5 % level: ECE and classwise ECE. A calibrated model is
        therefore called miscalibrated in at most 5 % of cases.
        """
        count = f"{len(self.examples):,} examples"
        ece, classwise = self["ece"], self["classwise_ece"]
        assert ece.null is not None, "evaluate gives every calibration error its null level"
        assert classwise.null is not None, "evaluate gives every calibration error its null level"
        if ece.null.p_value <= _LEVEL:
            return f"evidence of {self._fault}: {_against_null('ece', ece, count)}"
        if classwise.null.p_value <= _LEVEL:
            comparison = _against_null("classwise_ece", classwise, count)
            return f"evidence of miscalibrated classes, though not of confidence: {comparison}"
        return (
            f"no evidence of miscalibration: {_against_null('ece', ece, count)}; an ECE up to "
            f"{ece.null.high:.3g} is within chance here"
        )

    @property
    def _fault(self) -> str:
        """Overconfidence or underconfidence if the difference to accuracy is significant."""
        accuracy, confidence = self["accuracy"], self["confidence"].value
        if confidence > accuracy.high:
            return "overconfidence"
        return "underconfidence" if confidence < accuracy.low else "miscalibration"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the per-example values, for JSON; NaN and infinity become ``None``."""
        curve = {
            name: value if isinstance(value, float) else value.tolist()
            for name, value in vars(self.reliability).items()
        }
        return {
            "examples": len(self.examples),
            "verdict": self.verdict,
            "notes": self.notes,
            "metrics": {name: _plain(measured) for name, measured in self.metrics.items()},
            "classes": [_plain(result) for result in self.classes],
            "groups": {name: _plain(measured) for name, measured in self.groups.items()},
            "reliability": curve,
            "replicates": self.replicates,
            "seed": self.seed,
        }

    def __str__(self) -> str:
        head = f"{'':<24}{'value':>8}  {'95 % interval':<18}"
        lines = [
            f"{len(self.examples):,} examples, {len(self.classes)} classes",
            "",
            f"{head}if calibrated: mean, 95th percentile, p",
        ]
        lines += [_line(METRICS[name].title, measured) for name, measured in self.metrics.items()]
        accuracy = METRICS["accuracy"].title
        lines += [_line(f"{accuracy} of the {name}", part) for name, part in self.groups.items()]
        return "\n".join([*lines, "", *self.notes, self.verdict])

    __repr__ = __str__


def _line(title: str, measured: Measured) -> str:
    """One line of the table."""
    interval = f"[{measured.low:.4f}, {measured.high:.4f}]"
    line = f"{title:<24}{measured.value:>8.4f}  {interval:<18}"
    if measured.null is None:
        return line.rstrip()
    null = measured.null
    return f"{line}{null.mean:>20.4f}{null.high:>17.4f}{null.p_value:>7.3f}"


def _against_null(name: str, measured: Measured, count: str) -> str:
    """Compare a calibration error with its null level."""
    assert measured.null is not None, "only calibration errors have a null level"
    return (
        f"{METRICS[name].title} {measured.value:.3g}, while a perfectly calibrated model scores "
        f"{measured.null.mean:.3g} on {count} (p = {measured.null.p_value:.2g})"
    )


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
