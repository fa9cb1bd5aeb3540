"""The table of metrics: what each is called, which way is better, and how it is written."""

from dataclasses import dataclass
from typing import Literal

from oddkout.checks import Number


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric as terminal, HTML, LaTeX, results and docs show it.

    Attributes:
        name: Key in ``evaluate(...).metrics`` and in stored runs.
        title: What tables call it.
        direction: Which values are better; ``"none"`` where neither is.
        meaning: One sentence for a reader who does not know the metric.
        scale: What a value is multiplied by before it is written.
        unit: What follows a written value.
        digits: Decimals.
    """

    name: str
    title: str
    direction: Literal["higher", "lower", "none"]
    meaning: str
    scale: Number = 1
    unit: str = ""
    digits: int = 3

    @property
    def head(self) -> str:
        """The title with its unit, for the head of a column."""
        return f"{self.title} {self.unit}".strip()

    @property
    def sign(self) -> int:
        """A factor that makes lower values better: -1 where higher ones are."""
        return -1 if self.direction == "higher" else 1

    def written(self, value: Number, *, sign: str = "") -> str:
        """A value, or a difference of values, without its unit.

        Args:
            value: The value.
            sign: ``"+"`` to write the sign of positive values, too.

        Example:
            >>> METRICS["accuracy"].written(0.8764), METRICS["ece"].written(0.0312, sign="+")
            ('87.6', '+0.031')
        """
        return f"{self.scale * value:{sign}.{self.digits}f}"


METRICS = {
    metric.name: metric
    for metric in (
        Metric(
            name="accuracy",
            title="accuracy",
            direction="higher",
            meaning="Share of the test examples that are classified correctly.",
            scale=100,
            unit="%",
            digits=1,
        ),
        Metric(
            name="balanced_accuracy",
            title="balanced accuracy",
            direction="higher",
            meaning="Mean over classes of the share of their examples that are recognised.",
            scale=100,
            unit="%",
            digits=1,
        ),
        Metric(
            name="nll",
            title="NLL",
            direction="lower",
            meaning="Negative log-likelihood: how much probability the true class gets.",
        ),
        Metric(
            name="brier",
            title="Brier",
            direction="lower",
            meaning="Brier score: mean squared error of the probabilities.",
        ),
        Metric(
            name="brier_uncertainty",
            title="Brier uncertainty",
            direction="none",
            meaning="The part of the Brier score that the class frequencies alone explain.",
        ),
        Metric(
            name="brier_resolution",
            title="Brier resolution",
            direction="higher",
            meaning="The part of the Brier score that the predictions take off the uncertainty.",
        ),
        Metric(
            name="brier_reliability",
            title="Brier reliability",
            direction="lower",
            meaning="The part of the Brier score that miscalibration adds.",
        ),
        Metric(
            name="ece",
            title="ECE",
            direction="lower",
            meaning="Expected calibration error: mean gap between confidence and accuracy.",
        ),
        Metric(
            name="ece_equal_mass",
            title="ECE, equal mass",
            direction="lower",
            meaning="Expected calibration error with as many examples in every bin.",
        ),
        Metric(
            name="maximum_ece",
            title="maximum ECE",
            direction="lower",
            meaning="Largest gap between confidence and accuracy of any bin.",
        ),
        Metric(
            name="debiased_ece",
            title="debiased ECE",
            direction="lower",
            meaning="Calibration error less what chance adds to it.",
        ),
        Metric(
            name="smooth_ece",
            title="smooth ECE",
            direction="lower",
            meaning="Calibration error by kernel smoothing instead of bins.",
        ),
        Metric(
            name="classwise_ece",
            title="classwise ECE",
            direction="lower",
            meaning="Calibration error of each class's probability, averaged over the classes.",
        ),
        Metric(
            name="entropy_gap",
            title="abs(CE - H)",
            direction="lower",
            meaning="Distance between mean cross-entropy and mean entropy: 0 if the model is "
            "wrong as often as it expects. The paper calls it MAE.",
        ),
        Metric(
            name="relative_cross_entropy",
            title="CE - H",
            direction="none",
            meaning="Mean relative cross-entropy: positive if overconfident, negative if "
            "underconfident.",
        ),
        Metric(
            name="entropy",
            title="entropy",
            direction="none",
            meaning="Mean entropy of the predictions.",
        ),
        Metric(
            name="confidence",
            title="confidence",
            direction="none",
            meaning="Mean probability of the predicted class.",
        ),
        Metric(
            name="correctness_auroc",
            title="correctness AUROC",
            direction="higher",
            meaning="Probability that a correct prediction is more confident than a wrong one.",
        ),
        Metric(
            name="risk_coverage_area",
            title="risk-coverage area",
            direction="lower",
            meaning="Mean error among the most confident predictions, over all coverages.",
        ),
    )
}
