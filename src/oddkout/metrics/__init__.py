"""Measures of how good and how honest predicted probabilities are."""

from oddkout.metrics.calibration import expected_calibration_error

__all__ = ["expected_calibration_error"]
