"""The table of metrics: name, title, direction, format and meaning of each."""

import math
from dataclasses import dataclass
from typing import Literal

from oddkout.checks import Number


@dataclass(frozen=True, kw_only=True)
class Metric:
    """How the terminal, HTML, LaTeX, the results and the docs present one metric.

    Attributes:
        name: Key in ``evaluate(...).metrics`` and in stored runs.
        title: Name in tables.
        direction: Whether higher or lower values are better; ``"none"`` if neither.
        meaning: One sentence for a reader who does not know the metric.
        scale: Factor applied before a value is written.
        unit: Unit of the scaled value.
        digits: Number of decimals.
        lowest: Smallest possible value.
        highest: Largest possible value.
    """

    name: str
    title: str
    direction: Literal["higher", "lower", "none"]
    meaning: str
    scale: Number = 1
    unit: str = ""
    digits: int = 3
    lowest: Number = 0
    highest: Number = math.inf

    @property
    def head(self) -> str:
        """Title and unit, for a column header."""
        return f"{self.title} {self.unit}".strip()

    @property
    def sign(self) -> int:
        """Factor that makes lower values better: -1 if higher values are better."""
        return -1 if self.direction == "higher" else 1

    def written(self, value: Number, *, sign: str = "") -> str:
        """Format a value, or a difference of values, without its unit.

        Pass ``sign="+"`` to write a plus sign before positive values.

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
            highest=1,
        ),
        Metric(
            name="balanced_accuracy",
            title="balanced accuracy",
            direction="higher",
            meaning="Mean over the classes of the accuracy on their examples.",
            scale=100,
            unit="%",
            digits=1,
            highest=1,
        ),
        Metric(
            name="mcc",
            title="MCC",
            direction="higher",
            meaning="Matthews' correlation of predicted and true classes: 1 is perfect, 0 is no "
            "better than chance.",
            lowest=-1,
            highest=1,
        ),
        Metric(
            name="auroc",
            title="AUROC",
            direction="higher",
            meaning="Probability that an example of a class gets a higher probability of it than "
            "an example of another class, averaged over the classes.",
            highest=1,
        ),
        Metric(
            name="average_precision",
            title="average precision",
            direction="higher",
            meaning="Area under the precision-recall curve of each class, averaged over the "
            "classes.",
            highest=1,
        ),
        Metric(
            name="nll",
            title="NLL",
            direction="lower",
            meaning="Negative log-likelihood: mean of -log(probability of the true class).",
        ),
        Metric(
            name="skill",
            title="skill against guessing",
            direction="higher",
            meaning="1 - NLL / NLL of always predicting the class frequencies: 1 is perfect, 0 is "
            "guessing, negative is worse than guessing.",
            lowest=-math.inf,
            highest=1,
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
            meaning="Brier score of always predicting the class frequencies.",
        ),
        Metric(
            name="brier_resolution",
            title="Brier resolution",
            direction="higher",
            meaning="How much the predictions lower the Brier score by telling classes apart.",
        ),
        Metric(
            name="brier_reliability",
            title="Brier reliability",
            direction="lower",
            meaning="How much miscalibration raises the Brier score.",
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
            meaning="Expected calibration error with the same number of examples in every bin.",
        ),
        Metric(
            name="maximum_ece",
            title="maximum ECE",
            direction="lower",
            meaning="Largest gap between confidence and accuracy in any bin.",
        ),
        Metric(
            name="debiased_ece",
            lowest=-math.inf,
            title="debiased ECE",
            direction="lower",
            meaning="Calibration error corrected for sampling noise.",
        ),
        Metric(
            name="smooth_ece",
            title="smooth ECE",
            direction="lower",
            meaning="Calibration error with kernel smoothing instead of bins.",
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
            meaning="Absolute difference between mean cross-entropy and mean entropy: 0 if the "
            "model is wrong as often as it expects. The paper calls it MAE.",
        ),
        Metric(
            name="relative_cross_entropy",
            lowest=-math.inf,
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
            highest=1,
            title="correctness AUROC",
            direction="higher",
            meaning="Probability that a correct prediction is more confident than a wrong one.",
        ),
        Metric(
            name="risk_coverage_area",
            title="risk-coverage area",
            direction="lower",
            meaning="Error rate among the most confident predictions, averaged over coverages.",
        ),
    )
}

# What decisions are judged by; ``oko.compare`` measures them, ``evaluate`` does not.
DECISIONS = {
    metric.name: metric
    for metric in (
        Metric(
            name="cost",
            title="cost per case",
            direction="lower",
            meaning="Mean cost of the cheapest answers, by the given costs.",
        ),
        Metric(
            name="set_coverage",
            title="sets: coverage",
            direction="none",
            meaning="Share of the prediction sets that hold the true class; 90 % are asked for, in "
            "each class.",
            scale=100,
            unit="%",
            digits=1,
            highest=1,
        ),
        Metric(
            name="set_size",
            title="sets: size",
            direction="lower",
            meaning="Mean number of classes in a prediction set; compare at equal coverage.",
            digits=2,
        ),
        *(
            Metric(
                name=f"answered_{risk}",
                title=f"answered %, {risk} % risk",
                direction="higher",
                meaning="Share of cases that are answered and not referred, if at most "
                f"{risk} % of the answers may be wrong, with 95 % confidence.",
                scale=100,
                digits=1,
                highest=1,
            )
            for risk in (1, 5, 10)
        ),
    )
}

# All metrics.
CATALOGUE = METRICS | DECISIONS
