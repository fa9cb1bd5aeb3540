"""What every source of data becomes: training and test arrays with class names."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float32, Int64
from numpy import ndarray
from torch import Tensor


@runtime_checkable
class ExampleArray(Protocol):
    """An array of examples, or what is indexed like one and decodes what it is asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class Data:
    """A data set for classification, checked and split.

    Attributes:
        name: What it is called in reports.
        x_train: Training examples: images as bytes (examples, height, width[, 3]), or features
            as float32 (examples, features); too many images are decoded as they are asked for.
        y_train: Their classes, positions in ``classes``.
        x_test: Test examples, likewise.
        y_test: Their classes.
        classes: Names of the classes.
        notes: What a user should know of how the data were read, a sentence each.
        encoder: For tables, the ``TableEncoder`` that learned of the training part how to turn
            columns into numbers.
    """

    name: str
    x_train: ExampleArray
    y_train: Int64[ndarray, " train"]
    x_test: ExampleArray
    y_test: Int64[ndarray, " test"]
    classes: tuple[str, ...]
    notes: tuple[str, ...] = ()
    encoder: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for part, x, y in (
            ("training", self.x_train, self.y_train),
            ("test", self.x_test, self.y_test),
        ):
            if len(x) != len(y) or len(y) == 0:
                raise ValueError(
                    f"the {part} part of {self.name} must hold at least one example and a label "
                    f"for each, got {len(x)} examples and {len(y)} labels"
                )

    @property
    def class_sizes(self) -> list[int]:
        """Number of training examples of every class."""
        counts: list[int] = np.bincount(self.y_train, minlength=len(self.classes)).tolist()
        return counts


def as_tensor(x: Any) -> Float32[Tensor, "..."]:
    """Examples as a float32 tensor, as models take them.

    Images in bytes become (examples, channels, height, width) in [0, 1]; anything else keeps its
    shape.

    Args:
        x: Images of shape (examples, height, width) or (examples, height, width, 3) in bytes, or
            any array of numbers.

    Example:
        >>> as_tensor(np.full((2, 28, 28), 255, dtype=np.uint8)).shape
        torch.Size([2, 1, 28, 28])
    """
    array = np.asarray(x)
    if array.dtype != np.uint8 or array.ndim not in (3, 4):
        return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32))
    images = torch.from_numpy(np.ascontiguousarray(array))
    images = images.unsqueeze(1) if images.ndim == 3 else images.permute(0, 3, 1, 2).contiguous()
    return images.to(torch.float32).div_(255)


def encoded_labels(
    labels: Any, classes: Sequence[str] | None = None, *, name: str
) -> tuple[Int64[ndarray, " examples"], tuple[str, ...]]:
    """Labels as positions in the sorted class names, and the names.

    Integers are sorted as numbers, everything else as text.

    Args:
        labels: One label per example: strings or integers.
        classes: The names to use, if they are known; other labels are refused.
        name: What to call the labels in an error.
    """
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iubUSO":
        raise ValueError(
            f"{name} must hold one class per example, integers or text, got {array.dtype} of shape "
            f"{array.shape}; convert numbers with astype(int)"
        )
    if len(array) == 0:
        raise ValueError(f"{name} must hold at least one example, got none")
    present, position = np.unique(array, return_inverse=True)
    names = tuple(str(value) for value in present.tolist())
    if classes is None:
        if len(names) < 2:
            raise ValueError(
                f"{name} must hold at least 2 classes, got only {names[0]!r}; there is nothing to "
                "tell apart"
            )
        return position.astype(np.int64), names
    known = {class_name: i for i, class_name in enumerate(classes)}
    if unknown := [value for value in names if value not in known]:
        raise ValueError(
            f"{name} must hold classes of the training data, but {unknown[:5]} are not among "
            f"{list(classes)[:10]}; drop these examples or train with them"
        )
    return np.array([known[value] for value in names], dtype=np.int64)[position], tuple(classes)
