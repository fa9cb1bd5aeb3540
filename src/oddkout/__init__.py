"""Trustworthy classifiers from few, unevenly labelled examples, by odd-k-out set learning.

Set Learning for Accurate and Calibrated Models (Muttenthaler et al., ICLR 2024): a model learns
from sets, two examples of one class and k of others; logits are summed over the set and the pair
class is to be predicted. Write ``import oddkout as oko``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from oddkout import calibrators, metrics, testing
from oddkout.data import Data, as_tensor, last_split, load_data, split, subset
from oddkout.diagnosis import Diagnosis, doctor
from oddkout.evaluation import evaluate
from oddkout.exports import export
from oddkout.fitting.classifier import Classifier
from oddkout.fitting.fit import fit
from oddkout.heads import with_odd_head, without_odd_head
from oddkout.losses import (
    OddKOutLoss,
    class_weights,
    effective_number_weights,
    focal_loss,
    ldam_loss,
    logit_adjusted_cross_entropy,
    set_loss,
    weighted_cross_entropy,
)
from oddkout.prior import class_frequencies
from oddkout.samplers import (
    ClassBalancedBatchSampler,
    OddKOutBatchSampler,
    PairedBatchSampler,
)
from oddkout.sets import ClassIndex, set_sum
from oddkout.version import __version__ as __version__

if TYPE_CHECKING:
    from oddkout import decisions
    from oddkout.comparing.compare import compare
    from oddkout.estimator import OddKOutClassifier
    from oddkout.report.write import write_report

__all__ = [
    "ClassBalancedBatchSampler",
    "ClassIndex",
    "Classifier",
    "Data",
    "Diagnosis",
    "OddKOutBatchSampler",
    "OddKOutClassifier",
    "OddKOutLoss",
    "PairedBatchSampler",
    "as_tensor",
    "calibrators",
    "class_frequencies",
    "class_weights",
    "compare",
    "decisions",
    "doctor",
    "effective_number_weights",
    "evaluate",
    "export",
    "fit",
    "focal_loss",
    "last_split",
    "ldam_loss",
    "load_data",
    "logit_adjusted_cross_entropy",
    "metrics",
    "set_loss",
    "set_sum",
    "split",
    "subset",
    "testing",
    "weighted_cross_entropy",
    "with_odd_head",
    "without_odd_head",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Import names that need optional packages, or much of this one, on first use."""
    if name == "OddKOutClassifier":
        try:
            from oddkout.estimator import OddKOutClassifier
        except ImportError as missing:
            raise ImportError(
                f"OddKOutClassifier needs {missing.name}; pip install 'oddkout[sklearn]'"
            ) from missing
        return OddKOutClassifier
    if name == "decisions":
        return import_module("oddkout.decisions")
    if name == "compare":
        from oddkout.comparing.compare import compare

        return compare
    if name == "write_report":
        from oddkout.report.write import write_report

        return write_report
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """All public names, those that are imported on first use included."""
    return sorted({*globals(), *__all__})
