"""A classifier of another library as a module, saved without pickle."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from oddkout.checks import few

# Name of the network of such a classifier, and its file.
FOREIGN = "skops"
FILE = "model.skops"

# A smaller probability counts as this: forests predict 0, whose logarithm is infinite.
LEAST = 1e-6

# Rows of probabilities must sum to 1 up to this.
_TOLERANCE = 1e-3

# Our own type, which holds numbers only.
_TRUSTED = ("oddkout.comparing.contestants.Guess",)


class ForeignModel(nn.Module):
    """Outputs the log-probabilities of a fitted classifier.

    Args:
        estimator: An object with ``predict_proba``; its classes are positions.
        classes: Number of all classes.
    """

    def __init__(self, estimator: Any, *, classes: int) -> None:
        super().__init__()
        self.estimator = estimator
        self.classes = classes
        # Says on which device the module is.
        self.anchor = nn.Parameter(torch.zeros(1), requires_grad=False)

    def forward(self, x: Float[Tensor, "examples ..."]) -> Float[Tensor, "examples classes"]:
        """Log-probabilities."""
        rows = x.flatten(1).double().cpu().numpy()
        return log_probabilities(self.estimator, rows, classes=self.classes).float().to(x.device)


def log_probabilities(estimator: Any, x: Any, *, classes: int) -> Float[Tensor, "examples classes"]:
    """Logarithm of the predicted probabilities, or raise if they are none.

    A class that the classifier has not seen, and every probability below 1e-6, counts as 1e-6.

    Args:
        estimator: A fitted classifier; its classes are positions.
        x: Examples: an array, or a frame for a classifier that takes frames.
        classes: Number of all classes.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raw = np.asarray(estimator.predict_proba(x), dtype=np.float64)
    seen = np.asarray(getattr(estimator, "classes_", np.arange(classes))).astype(np.int64)
    if raw.shape != (len(x), len(seen)):
        raise ValueError(
            f"predict_proba must return a row for each of {len(x)} examples and a column for each "
            f"of {len(seen)} classes, got shape {raw.shape}"
        )
    if not np.isfinite(raw).all() or (raw < -_TOLERANCE).any():
        raise ValueError("predict_proba must return probabilities, got negative or not finite ones")
    sums = raw.sum(axis=1)
    if len(sums) and np.abs(sums - 1).max() > _TOLERANCE:
        worst = sums[np.abs(sums - 1).argmax()]
        raise ValueError(f"each row of predict_proba must sum to 1, got a row with sum {worst:.4g}")
    probs = np.full((len(x), classes), LEAST)
    probs[:, seen] = np.maximum(raw, LEAST)
    return torch.from_numpy(np.log(probs / probs.sum(axis=1, keepdims=True)))


def save_foreign(model: ForeignModel, path: Path) -> None:
    """Write the classifier with skops, or raise if it could not be read without running code.

    Args:
        path: File to write.
    """
    skops = _skops()
    name = type(model.estimator).__name__
    try:
        skops.dump(model.estimator, path)
        untrusted = set(skops.get_untrusted_types(file=path)) - set(_TRUSTED)
    except Exception as error:  # skops raises many kinds for what it cannot write
        path.unlink(missing_ok=True)
        raise ValueError(
            f"{name} cannot be saved without pickle ({error}); save it with its own library"
        ) from None
    if untrusted:
        path.unlink(missing_ok=True)
        raise ValueError(
            f"{name} holds types that could run code when it is read, {few(sorted(untrusted))}, "
            "so it is not saved; save it with its own library"
        )


def load_foreign(path: Path, *, classes: int) -> ForeignModel:
    """Read a classifier. No code from the file is executed.

    Args:
        path: File that ``save_foreign`` wrote.
        classes: Number of classes.
    """
    skops = _skops()
    try:
        return ForeignModel(skops.load(path, trusted=list(_TRUSTED)), classes=classes)
    except Exception as error:  # damaged files raise many kinds
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(
            f"{path} does not hold a classifier that can be trusted ({reason}); train it again"
        ) from None


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise ValueError(
            "saving or reading a classifier of another library needs skops; run: pip install "
            "'oddkout[sklearn]'"
        ) from None
    return skops.io
