"""All metrics of one set of predictions, with confidence intervals and null levels."""

from oddkout.evaluation.evaluate import evaluate
from oddkout.evaluation.measured import ClassResult, GuessScore, Measured, NullLevel
from oddkout.evaluation.report import Evaluation

__all__ = ["ClassResult", "Evaluation", "GuessScore", "Measured", "NullLevel", "evaluate"]
