"""What an evaluation found: every number with its interval, every error with its null level."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from oddkout.evaluation.resampling import Examples
from oddkout.metrics.ranking import RiskCoverage
from oddkout.metrics.reliability import ReliabilityCurve

# Two errors are tested for the verdict; each at half of 5 %.
_LEVEL = 0.025


@dataclass(frozen=True)
class NullLevel:
    """What a perfectly calibrated model with the same predictions scores on as many examples.

    Args:
        mean: Its mean score.
        high: 95th percentile of its scores.
        p_value: How often it scores as high as what was found, or higher.
    """

    mean: float
    high: float
    p_value: float


@dataclass(frozen=True)
class Measured:
    """A number with its 95 % interval and, for a calibration error, its null level."""

    value: float
    low: float
    high: float
    null: NullLevel | None = None


@dataclass(frozen=True, kw_only=True)
class ClassResult:
    """One class: how many of its examples are found, and whether its name can be believed.

    Args:
        name: Name of the class.
        examples: Number of its examples.
        accuracy: Share of them that is found.
        predicted: Number of examples that are called by this name.
        precision: Share of these that is right.
        confidence: Their mean confidence; precision equals it in a calibrated model.
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
        metrics: The metrics by name; ``evaluation["ece"]`` is one of them.
        classes: Results class by class.
        groups: Accuracy of head, middle and tail classes, if training labels were given.
        reliability: Accuracy against confidence.
        risk_coverage: Share of wrong predictions among the most confident.
        examples: What was measured of every example.
        notes: What a reader of the numbers must know.
        replicates: Number of bootstrap replicates and of draws from the null.
        seed: Seed of both.
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
        """What the numbers support, in one sentence.

        Two errors are tested, that of the confidence and that of each class's probability; each
        at 2.5 %, so that a calibrated model is accused in at most 5 % of cases.
        """
        count = f"{len(self.examples):,} examples"
        ece, classwise = self["ece"], self["classwise_ece"]
        assert ece.null is not None, "evaluate gives every calibration error its null level"
        assert classwise.null is not None, "evaluate gives every calibration error its null level"
        if ece.null.p_value <= _LEVEL:
            return f"evidence of {self._fault}: {_against_null('ECE', ece, count)}"
        if classwise.null.p_value <= _LEVEL:
            shown = _against_null("classwise ECE", classwise, count)
            return f"evidence of miscalibrated classes, though not of confidence: {shown}"
        return (
            f"no evidence of miscalibration: {_against_null('ECE', ece, count)}; an ECE up to "
            f"{ece.null.high:.3g} cannot be told from chance here"
        )

    @property
    def _fault(self) -> str:
        """In which direction confidence errs, if its distance from accuracy is beyond chance."""
        accuracy, confidence = self["accuracy"], self["confidence"].value
        if confidence > accuracy.high:
            return "overconfidence"
        return "underconfidence" if confidence < accuracy.low else "miscalibration"

    def to_dict(self) -> dict[str, Any]:
        """Everything but the single examples as plain values; what is not finite is ``None``."""
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
        lines += [_line(name.replace("_", " "), found) for name, found in self.metrics.items()]
        lines += [_line(f"accuracy of the {name}", found) for name, found in self.groups.items()]
        return "\n".join([*lines, "", *self.notes, self.verdict])

    __repr__ = __str__


def _line(name: str, found: Measured) -> str:
    """One line of the table."""
    interval = f"[{found.low:.4f}, {found.high:.4f}]"
    line = f"{name:<24}{found.value:>8.4f}  {interval:<18}"
    if found.null is None:
        return line.rstrip()
    null = found.null
    return f"{line}{null.mean:>20.4f}{null.high:>17.4f}{null.p_value:>7.3f}"


def _against_null(name: str, found: Measured, count: str) -> str:
    """A calibration error beside what chance makes of it."""
    assert found.null is not None, "only calibration errors have a null level"
    return (
        f"{name} {found.value:.3g}, while a perfectly calibrated model scores "
        f"{found.null.mean:.3g} on {count} (p = {found.null.p_value:.2g})"
    )


def _plain(result: Measured | ClassResult) -> dict[str, Any]:
    """A result as plain values."""
    values: dict[str, Any] = _finite(asdict(result))
    return values


def _finite(value: Any) -> Any:
    """Replace what JSON cannot say by ``None``, and leave out a null level that is not there."""
    if isinstance(value, dict):
        kept = {name: part for name, part in value.items() if (name, part) != ("null", None)}
        return {name: _finite(part) for name, part in kept.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
