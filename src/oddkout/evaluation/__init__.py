"""All metrics of one set of predictions, with confidence intervals and null levels."""

from oddkout.evaluation.evaluate import evaluate
from oddkout.evaluation.report import ClassResult, Evaluation, Measured, NullLevel

__all__ = ["ClassResult", "Evaluation", "Measured", "NullLevel", "evaluate"]
