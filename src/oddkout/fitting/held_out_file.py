"""``held-out.safetensors``: the held-out predictions of a saved classifier."""

from pathlib import Path

import numpy as np
import torch

from oddkout.decisions.held_out import HeldOut
from oddkout.decisions.promises import Source
from oddkout.fitting.folds import UNSCORED
from oddkout.fitting.pipeline import MembersOption
from oddkout.fitting.stack import Stack
from oddkout.reading import reading
from oddkout.writing import write_tensors

HELD_OUT = "held-out.safetensors"
_SOURCE = "source"
_REPAIR = "the folder is damaged: train the model again"


def held_out_of(
    fitted: Stack,
    y: torch.Tensor,
    *,
    members: MembersOption,
    groups: torch.Tensor | None,
    is_calibrated: bool,
) -> HeldOut | None:
    """The out-of-fold predictions of a fitted classifier; None without folds.

    Args:
        fitted: The fitted classifier.
        y: Classes of the training examples.
        members: Whether the networks of the folds predict.
        groups: Group of each example.
        is_calibrated: Whether the classifier predicts with what was fitted out of fold.
    """
    if fitted.scores is None:
        return None
    logits = fitted.scores.calibrated
    if not is_calibrated and len(fitted.views) == 1:
        logits = fitted.views[0].as_trained.logits(fitted.scores.logits)
    fold_of = fitted.scores.fold_of
    counts = {view.members for view in fitted.views}
    folds = len(np.unique(fold_of[fold_of != UNSCORED].numpy()))
    source: Source = "others"
    if members == "folds" and counts == {folds}:
        source = "split" if folds == 1 else "members"
    return held_out_rows(logits, y, fold_of, groups=groups, source=source)


def held_out_rows(
    logits: torch.Tensor,
    y: torch.Tensor,
    fold_of: torch.Tensor,
    *,
    groups: torch.Tensor | None,
    source: Source,
) -> HeldOut:
    """The rows that were scored; folds and groups are numbered from 0."""
    is_scored = fold_of != UNSCORED
    return HeldOut(
        logits=logits[is_scored].double().numpy(),
        labels=y[is_scored].long().numpy(),
        folds=_numbered(fold_of[is_scored]),
        groups=None if groups is None else _numbered(groups[is_scored]),
        source=source,
    )


def _numbered(values: torch.Tensor) -> np.ndarray:
    return np.unique(values.numpy(), return_inverse=True)[1].astype(np.int64)


def save_held_out(held_out: HeldOut, path: Path) -> None:
    """Write held-out predictions: numbers, without names of examples or groups."""
    arrays = {
        "logits": held_out.logits,
        "labels": held_out.labels,
        "folds": held_out.folds,
    }
    if held_out.groups is not None:
        arrays["groups"] = held_out.groups
    tensors = {name: torch.from_numpy(np.ascontiguousarray(a)) for name, a in arrays.items()}
    write_tensors(tensors, path, metadata={_SOURCE: held_out.source})


def load_held_out(path: Path, *, classes: int) -> HeldOut | None:
    """Read held-out predictions; None if there is no such file.

    Args:
        path: The file.
        classes: Number of classes of the classifier.
    """
    if not path.exists() and not path.is_symlink():
        return None
    with reading(path, kind="the held-out predictions of this classifier", repair=_REPAIR):
        from safetensors import safe_open

        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            source = (file.metadata() or {})[_SOURCE]
        logits, labels, folds = (arrays[name] for name in ("logits", "labels", "folds"))
        groups = arrays.get("groups")
        is_valid = (
            logits.dtype == np.float64
            and logits.shape == (len(labels), classes)
            and len(labels) > 0
            and np.isfinite(logits).all()
            and all(
                part.dtype == np.int64 and part.shape == (len(labels),) and part.min() >= 0
                for part in (labels, folds, *([] if groups is None else [groups]))
            )
            and labels.max() < classes
            and source in ("split", "members", "others")
        )
        if not is_valid:
            raise ValueError("shapes or values do not fit")
    return HeldOut(logits=logits, labels=labels, folds=folds, groups=groups, source=source)
