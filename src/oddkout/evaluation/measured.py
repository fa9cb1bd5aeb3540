"""Values with confidence intervals, and the null levels of calibration errors."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Number

# Significance level of each of the two tests behind the verdict: 5 % in all (Bonferroni). The null
# level that is shown with a calibration error belongs to the same level.
LEVEL = 0.025


@dataclass(frozen=True)
class NullLevel:
    """The calibration error of a perfectly calibrated model with the same predictions.

    Args:
        mean: Mean of its error.
        high: 97.5th percentile of its error. A larger error is significant: its p-value is at most
            2.5 %. An error up to this one is within chance.
        p_value: Probability that its error is at least the measured one.
    """

    mean: float
    high: float
    p_value: float

    @property
    def is_exceeded(self) -> bool:
        """Whether the measured error is significant, at the 2.5 % level."""
        return self.p_value <= LEVEL


@dataclass(frozen=True)
class Measured:
    """A value with its 95 % confidence interval and, for a calibration error, its null level."""

    value: float
    low: float
    high: float
    null: NullLevel | None = None


@dataclass(frozen=True, kw_only=True)
class ClassResult:
    """How well one class is recognised, and how confidently.

    Args:
        examples: Number of examples of the class.
        accuracy: Share of these examples that are predicted as the class: its recall.
        predicted: Number of examples predicted as the class.
        precision: Share of these predictions that are correct.
        confidence: Mean confidence of these predictions; equal to precision if calibrated.
        f1: Harmonic mean of recall and precision; None where seeds are pooled, like the next two.
        auroc: AUROC of the class against the rest.
        average_precision: Average precision of the class against the rest.
    """

    name: str
    examples: int
    accuracy: Measured
    predicted: int
    precision: Measured
    confidence: float
    f1: Measured | None = None
    auroc: Measured | None = None
    average_precision: Measured | None = None

    @property
    def recall(self) -> Measured:
        """Share of the examples of the class that are predicted as the class."""
        return self.accuracy


@dataclass(frozen=True, kw_only=True)
class GuessScore:
    """What always predicting the same class frequencies scores.

    Args:
        source: Where the frequencies come from.
        nll: Its NLL.
        accuracy: Share of the examples that are of the class with the highest frequency.
    """

    source: str
    nll: float
    accuracy: float

    def __str__(self) -> str:
        return (
            f"guessing the class frequencies {self.source} scores NLL {self.nll:.4f} and accuracy "
            f"{self.accuracy:.4f}"
        )


def null_level(estimate: Number, draws: Float[Tensor, " replicates"]) -> NullLevel:
    """Mean and 97.5th percentile of the draws, and the p-value of the estimate.

    The estimate counts as one more draw, so the p-value is never 0. It is at most 2.5 % if and only
    if the estimate is above the percentile.

    Example:
        Of 99 draws, the two largest are 98 and 99: (1 + 1) / (1 + 99) for an estimate of 98.5.

        >>> import torch
        >>> draws = torch.arange(1.0, 100)
        >>> level = null_level(98.5, draws)
        >>> level.high, level.p_value, level.is_exceeded
        (98.0, 0.02, True)
    """
    ranked = draws.double().sort().values
    # Draws are in single precision: a draw that equals the estimate up to rounding reaches it.
    least = estimate - 1e-6 * abs(estimate)
    reached = int((ranked >= least).sum())
    high = ranked[-max(int((len(ranked) + 1) * LEVEL + 1e-9), 1)].item()
    if high >= least:
        high = max(high, estimate)
    return NullLevel(ranked.mean().item(), float(high), (1 + reached) / (1 + len(ranked)))
