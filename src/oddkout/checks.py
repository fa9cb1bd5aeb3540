"""The wording of errors: what must hold, what came, and what to do."""

from collections.abc import Collection
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

# Labels come in many forms and often wrong; ``class_labels`` says how, so nothing does before it.
Labels: TypeAlias = Any

# So do predictions: lists, arrays or tensors, which ``prediction_matrix`` reads.
Matrix: TypeAlias = Any

# Where a float is due, people write 2 as well; the run-time type checker of the tests is strict.
Number: TypeAlias = float | int


def at_least(name: str, value: int, minimum: int) -> int:
    """Return ``value``, or raise if it is no whole number of at least ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}")
    return int(value)


def one_of(name: str, value: str, choices: Collection[str]) -> None:
    """Raise if ``value`` is not among ``choices``."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def class_labels(labels: Labels) -> Tensor:
    """Return ``labels`` as a 1-D int64 tensor, or raise if they are no list of classes.

    Args:
        labels: List, array, tensor, or a data set with ``targets``; any integers, gaps allowed.
    """
    given = getattr(labels, "targets", labels)
    try:
        tensor = torch.as_tensor(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"labels must be a flat list of integers, but they cannot be read as such "
            f"({error}); map class names to integers first, and look for rows of different lengths"
        ) from None
    if tensor.ndim != 1:
        raise ValueError(
            f"labels must have one axis, one class per example, got shape {tuple(tensor.shape)}; "
            "turn one-hot rows into classes with argmax(1)"
        )
    if len(tensor) == 0:
        raise ValueError("labels must hold at least one example, got none; check the data you read")
    if tensor.is_floating_point() or tensor.is_complex():
        missing = tensor.isnan().nonzero().flatten().tolist()
        came = f"NaN at positions {few(missing)}" if missing else f"{tensor.dtype}"
        raise ValueError(
            f"labels must be integers, got {came}; "
            + ("drop or label these examples" if missing else "convert them, e.g. labels.long()")
        )
    return tensor.long()


def classification(logits: Tensor, labels: Tensor) -> Tensor:
    """Return ``labels`` as int64, or raise if they do not fit ``logits`` of examples x classes."""
    finite_logits(logits)
    labels = class_labels(labels)
    if len(labels) != len(logits):
        raise ValueError(
            f"logits and labels must be of the same examples, got {len(logits)} rows of logits and "
            f"{len(labels)} labels; pass the labels of the batch that the model was given"
        )
    low, high = labels.aminmax()
    if low < 0 or high >= logits.shape[1]:
        raise ValueError(
            f"labels must lie in 0 .. {logits.shape[1] - 1}, one column of logits per class, got "
            f"{int(low)} .. {int(high)}; number the classes from 0 or widen the last layer"
        )
    return labels


def finite_logits(logits: Tensor) -> Tensor:
    """Return ``logits``, or raise unless they are finite floats of shape examples x classes."""
    if logits.ndim != 2 or not logits.is_floating_point():
        raise ValueError(
            "logits must be floats of shape (examples, classes), got "
            f"{logits.dtype} of shape {tuple(logits.shape)}; flatten further axes into examples"
        )
    if len(logits) == 0:
        raise ValueError("logits must hold at least one example, got none; check the batch")
    # A sum is one pass without a temporary of the same size; only a surprise is looked at closely.
    if not logits.detach().sum(dtype=torch.float64).isfinite():
        bad = (~logits.detach().isfinite().all(dim=1)).nonzero().flatten().tolist()
        if bad:
            raise ValueError(
                f"logits must be finite, but rows {few(bad)} hold NaN or infinity; lower the "
                "learning rate, clip gradients, or look for non-finite inputs"
            )
    return logits


def prediction_matrix(name: str, values: Matrix) -> Tensor:
    """Return ``values`` as a float tensor of examples x classes, or raise if they are none.

    Half precision and whole numbers become float32; tensors and contiguous, writable arrays of
    floats are not copied.
    """
    try:
        given = (
            values if isinstance(values, Tensor) else np.require(values, requirements=["C", "W"])
        )
        tensor: Tensor = torch.as_tensor(given).detach()
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{name} must be a table of numbers, one row per example, but they cannot be read as "
            f"such ({error}); look for text and for rows of different lengths"
        ) from None
    if tensor.ndim != 2 or tensor.is_complex():
        raise ValueError(
            f"{name} must be real numbers of shape (examples, classes), got {tensor.dtype} of "
            f"shape {tuple(tensor.shape)}; flatten further axes into examples"
        )
    if len(tensor) == 0:
        raise ValueError(f"{name} must hold at least one example, got none; check what you read")
    if tensor.shape[1] < 2:
        raise ValueError(
            f"{name} must have a column for each of at least 2 classes, got {tensor.shape[1]}; "
            "write a single probability p as the columns 1 - p and p"
        )
    exact: torch.dtype = torch.promote_types(tensor.dtype, torch.float32)
    return tensor.to(exact)


def matching_labels(labels: Labels, *, examples: int, classes: int) -> Tensor:
    """Return ``labels`` as int64, or raise unless there is one of ``classes`` per example."""
    found = class_labels(labels)
    if len(found) != examples:
        raise ValueError(
            f"predictions and labels must be of the same examples, got {examples} rows of "
            f"predictions and {len(found)} labels; pass the labels in the order of the rows"
        )
    wrong = ((found < 0) | (found >= classes)).nonzero().flatten()
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(
            f"labels must lie in 0 .. {classes - 1}, one column of predictions per class, but "
            f"example {row} has label {int(found[row])}; number the classes from 0 in the order "
            "of the columns"
        )
    return found


def few(values: Collection[Any]) -> str:
    """Spell a list out, up to eight entries."""
    shown = ", ".join(map(str, list(values)[:8]))
    return f"[{shown}]" if len(values) <= 8 else f"[{shown}, ...] ({len(values)} in all)"
