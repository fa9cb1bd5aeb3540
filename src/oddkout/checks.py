"""Checks of arguments; their errors say what must hold, what was given, and what to do."""

from collections.abc import Collection
from difflib import get_close_matches
from typing import Any, TypeAlias

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

# Labels: a list, array or tensor. Not annotated more closely, so that ``class_labels`` and not a
# type checker reports what is wrong with them.
Labels: TypeAlias = Any

# Predictions: a list, array or tensor, which ``prediction_matrix`` checks.
Matrix: TypeAlias = Any

# Class frequencies: a list, array or tensor, which ``frequencies`` checks.
Prior: TypeAlias = Any

# A float argument for which users also write integers, as in gamma=2.
Number: TypeAlias = float | int


def at_least(name: str, value: int, minimum: int, *, maximum: int | None = None) -> int:
    """Return ``value``, or raise unless it is a whole number of at least ``minimum``.

    Args:
        maximum: Largest value, if there is one.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}")
    if maximum is not None and value > maximum:
        raise ValueError(f"{name} must be at most {maximum:,}, got {value}")
    return int(value)


def one_of(name: str, value: str, choices: Collection[str]) -> None:
    """Raise if ``value`` is not among ``choices``."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def class_labels(labels: Labels) -> Tensor:
    """Return ``labels`` as a 1-D int64 tensor, or raise unless they are a list of integers.

    Labels are a list, array or tensor, or a data set with ``targets``. They need not be
    consecutive.
    """
    given = getattr(labels, "targets", labels)
    try:
        tensor = torch.as_tensor(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"labels must be a flat list of integers, but they cannot be read as one "
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
        given_values = f"NaN at positions {few(missing)}" if missing else f"{tensor.dtype}"
        raise ValueError(
            f"labels must be integers, got {given_values}; "
            + ("drop or label these examples" if missing else "convert them, e.g. labels.long()")
        )
    return tensor.long()


def classification(logits: Tensor, labels: Tensor) -> Tensor:
    """Return ``labels`` as int64, or raise if they do not match the rows and columns of ``logits``.

    Also raise unless ``logits`` are finite.
    """
    finite_logits(logits)
    labels = class_labels(labels)
    if len(labels) != len(logits):
        raise ValueError(
            f"logits and labels must be of the same examples, got {len(logits)} rows of logits and "
            f"{len(labels)} labels; pass the labels of the batch that the model predicted"
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
    # A sum needs one pass and no temporary tensor; search for the rows only if it is not finite.
    if not logits.detach().sum(dtype=torch.float64).isfinite():
        bad = (~logits.detach().isfinite().all(dim=1)).nonzero().flatten().tolist()
        if bad:
            raise ValueError(
                f"logits must be finite, but rows {few(bad)} hold NaN or infinity; lower the "
                "learning rate, clip gradients, or look for non-finite inputs"
            )
    return logits


def prediction_matrix(name: str, values: Matrix) -> Tensor:
    """Return ``values`` as a float tensor of examples x classes, or raise if that is impossible.

    Half precision and integers become float32. Tensors and contiguous, writable float arrays are
    not copied.
    """
    try:
        given = (
            values if isinstance(values, Tensor) else np.require(values, requirements=["C", "W"])
        )
        tensor: Tensor = torch.as_tensor(given).detach()
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{name} must be a table of numbers, one row per example, but they cannot be read as "
            f"one ({error}); look for text and for rows of different lengths"
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
    """Return ``labels`` as int64, or raise unless each example has one in 0 .. classes - 1."""
    checked = class_labels(labels)
    if len(checked) != examples:
        raise ValueError(
            f"predictions and labels must be of the same examples, got {examples} rows of "
            f"predictions and {len(checked)} labels; pass the labels in the order of the rows"
        )
    wrong = ((checked < 0) | (checked >= classes)).nonzero().flatten()
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(
            f"labels must lie in 0 .. {classes - 1}, one column of predictions per class, but "
            f"example {row} has label {int(checked[row])}; number the classes from 0 in the order "
            "of the columns"
        )
    return checked


def few(values: Collection[Any]) -> str:
    """Format the first eight entries of a list."""
    first = ", ".join(map(str, list(values)[:8]))
    return f"[{first}]" if len(values) <= 8 else f"[{first}, ...] ({len(values)} in all)"


def suggestion(name: str, names: Collection[str]) -> str:
    """The end of a sentence about an unknown column: the closest one, or all of them.

    Example:
        >>> suggestion("Diagnois", ["age", "diagnosis"])
        "did you mean 'diagnosis'?"
        >>> suggestion("x", ["age", "diagnosis"])
        'the columns are [age, diagnosis]'
    """
    folded = {column.casefold().strip(): column for column in reversed(list(names))}
    close = get_close_matches(name.casefold().strip(), folded, n=1)
    return f"did you mean {folded[close[0]]!r}?" if close else f"the columns are {few(names)}"


def frequencies(
    name: str, values: Prior, *, classes: int | None = None
) -> Float[Tensor, " classes"]:
    """Return class frequencies in double precision, or raise if they are not a distribution.

    Args:
        classes: Required number of classes; any if not given.
    """
    given = values if isinstance(values, Tensor) else np.array(values, float)
    shares = torch.as_tensor(given).detach().double().cpu()
    if shares.ndim != 1 or len(shares) < 2:
        raise ValueError(
            f"{name} must be a list of one frequency for each of at least 2 classes, got shape "
            f"{tuple(shares.shape)}"
        )
    if not (shares > 0).all() or not abs(shares.sum().item() - 1) <= 1e-3:
        raise ValueError(
            f"{name} must be positive and sum to 1, got {shares.tolist()}; divide counts by their "
            "sum, and give a class that hardly occurs a small frequency"
        )
    if classes is not None and len(shares) != classes:
        raise ValueError(
            f"{name} must hold one frequency per class, {classes}, got {len(shares)}; pass "
            "class_frequencies(labels, classes=...) of the training labels"
        )
    return shares / shares.sum()
