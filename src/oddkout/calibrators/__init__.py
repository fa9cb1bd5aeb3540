"""Calibrators: modules from logits to calibrated logits, fitted on held-out examples."""

from oddkout.calibrators.adjusted_temperature import AdjustedTemperature
from oddkout.calibrators.calibrator import Calibrator
from oddkout.calibrators.cross_fitting import (
    CrossFitted,
    cross_fitted,
    cross_fitted_temperature,
    fold_numbers,
)
from oddkout.calibrators.isotonic import IsotonicCalibration
from oddkout.calibrators.prior import PriorCorrection
from oddkout.calibrators.temperature import TemperatureScaling
from oddkout.calibrators.vector import VectorScaling

__all__ = [
    "AdjustedTemperature",
    "Calibrator",
    "CrossFitted",
    "IsotonicCalibration",
    "PriorCorrection",
    "TemperatureScaling",
    "VectorScaling",
    "cross_fitted",
    "cross_fitted_temperature",
    "fold_numbers",
]
