"""``oko.doctor``: check a data set before training."""

from oddkout.diagnosis.doctor import doctor
from oddkout.diagnosis.grouping import GroupCheck
from oddkout.diagnosis.null_level import null_ece
from oddkout.diagnosis.result import Diagnosis, Finding, Suggestion

__all__ = ["Diagnosis", "Finding", "GroupCheck", "Suggestion", "doctor", "null_ece"]
