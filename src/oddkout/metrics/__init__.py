"""Metrics of predicted probabilities: accuracy, likelihood, calibration and ranking.

Predictions are lists, arrays or tensors. Pass them as ``probs`` or as ``logits``: nothing is
guessed. Metrics of probabilities take ``probs`` as their first argument, metrics of
log-probabilities take ``logits``; each accepts the other by keyword. Means and errors are returned
as scalar tensors.
"""

from oddkout.metrics.accuracies import (
    accuracy,
    balanced_accuracy,
    frequency_groups,
    per_class_accuracy,
)
from oddkout.metrics.brier import brier_decomposition, brier_score
from oddkout.metrics.calibration import (
    classwise_calibration_error,
    debiased_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
)
from oddkout.metrics.confusion import (
    confusion_matrix,
    matthews_correlation,
    per_class_f1,
    per_class_precision,
)
from oddkout.metrics.discrimination import (
    auroc,
    average_precision,
    per_class_auroc,
    per_class_average_precision,
)
from oddkout.metrics.entropies import (
    cross_entropy,
    entropy,
    entropy_gap,
    negative_log_likelihood,
    relative_cross_entropy,
)
from oddkout.metrics.intervals import clopper_pearson
from oddkout.metrics.ranking import correctness_auroc, risk_coverage
from oddkout.metrics.reliability import ReliabilityCurve, reliability_curve
from oddkout.metrics.skill import log_loss_skill
from oddkout.metrics.smooth import smooth_calibration_error

__all__ = [
    "ReliabilityCurve",
    "accuracy",
    "auroc",
    "average_precision",
    "balanced_accuracy",
    "brier_decomposition",
    "brier_score",
    "classwise_calibration_error",
    "clopper_pearson",
    "confusion_matrix",
    "correctness_auroc",
    "cross_entropy",
    "debiased_calibration_error",
    "entropy",
    "entropy_gap",
    "expected_calibration_error",
    "frequency_groups",
    "log_loss_skill",
    "matthews_correlation",
    "maximum_calibration_error",
    "negative_log_likelihood",
    "per_class_accuracy",
    "per_class_auroc",
    "per_class_average_precision",
    "per_class_f1",
    "per_class_precision",
    "relative_cross_entropy",
    "reliability_curve",
    "risk_coverage",
    "smooth_calibration_error",
]
