"""Loaded data: training and test arrays with class names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float32, Int64, Shaped
from numpy import ndarray
from torch import Tensor

from oddkout.checks import few


@runtime_checkable
class ExampleArray(Protocol):
    """An array of examples, or image files that are decoded when indexed."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any) -> Any: ...


@dataclass(frozen=True, kw_only=True, repr=False)
class Data:
    """A data set for classification, checked and split into training and test part.

    Attributes:
        name: Name in reports.
        x_train: Training examples: images (examples, height, width[, channels]) or features
            (examples, features). Large sets of image files are decoded when indexed.
        y_train: Classes of the training examples, as positions in ``classes``.
        x_test: Test examples; may be empty.
        y_test: Classes of the test examples.
        classes: Names of the classes.
        notes: What a user should know about how the data were read, a sentence each.
        encoder: For tables, the ``TableEncoder`` that was fitted to the training part.
        is_encoded: Whether features are standardised already, as those of a table are.
        is_benchmark: Whether it is a known benchmark set, which is judged for equal classes.
        train_groups: Group of each training example, such as the patient; None without groups.
        test_groups: Group of each test example.
        test_rows: Row of each test example in the source, if the source was split; splits with
            other seeds share some of them.
        raw_train: For tables, the columns of the training part before they are encoded, as a frame.
        raw_test: The same of the test part.
    """

    name: str
    x_train: ExampleArray
    y_train: Int64[ndarray, " train"]
    x_test: ExampleArray
    y_test: Int64[ndarray, " test"]
    classes: tuple[str, ...]
    notes: tuple[str, ...] = ()
    encoder: Any = None
    is_encoded: bool = False
    is_benchmark: bool = False
    train_groups: Int64[ndarray, " train"] | None = None
    test_groups: Int64[ndarray, " test"] | None = None
    test_rows: Int64[ndarray, " test"] | None = None
    raw_train: Any = None
    raw_test: Any = None

    def __post_init__(self) -> None:
        for part, x, y, least in (
            ("training", self.x_train, self.y_train, 1),
            ("test", self.x_test, self.y_test, 0),
        ):
            if len(x) != len(y) or len(y) < least:
                raise ValueError(
                    f"the {part} part of {self.name} must hold "
                    f"{'at least one example and ' if least else ''}a label for each example, got "
                    f"{len(x)} examples and {len(y)} labels"
                )
        for part, given, y in (
            ("training", self.train_groups, self.y_train),
            ("test", self.test_groups, self.y_test),
        ):
            if given is not None and len(given) != len(y):
                raise ValueError(
                    f"groups must name the group of each of the {len(y)} {part} examples, got "
                    f"{len(given)}"
                )

    def __repr__(self) -> str:
        return (
            f"Data({self.name!r}: {len(self.y_train):,} training and {len(self.y_test):,} test "
            f"examples, {len(self.classes)} classes)"
        )

    @property
    def class_sizes(self) -> list[int]:
        """Number of training examples of each class."""
        counts: list[int] = np.bincount(self.y_train, minlength=len(self.classes)).tolist()
        return counts


def as_tensor(x: Any) -> Float32[Tensor, "..."]:
    """Examples as a float32 tensor, in the layout that models take.

    Images become (examples, channels, height, width), and bytes are scaled to [0, 1]. In an array
    with four axes, the last is the channel axis if it has at most 4 entries and the second has
    more. Other arrays keep their shape.

    Args:
        x: Images of shape (examples, height, width), (examples, height, width, channels) or
            (examples, channels, height, width), or any other array of numbers.

    Example:
        >>> as_tensor(np.full((2, 28, 28), 255, dtype=np.uint8)).shape
        torch.Size([2, 1, 28, 28])
    """
    array = np.asarray(x)
    is_image = array.ndim in (3, 4)
    is_bytes = is_image and array.dtype == np.uint8
    if not is_bytes:
        array = array.astype(np.float32, copy=False)
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if array.ndim == 3:
        tensor = tensor.unsqueeze(1)
    elif array.ndim == 4 and array.shape[3] <= 4 < array.shape[1]:
        tensor = tensor.permute(0, 3, 1, 2).contiguous()
    return tensor.to(torch.float32).div_(255) if is_bytes else tensor


def plain_labels(labels: Any, *, name: str) -> Shaped[ndarray, " examples"]:
    """Labels as an array of integers, booleans or text; arrays of objects are converted.

    Args:
        labels: One label per example.
        name: Name of the labels in error messages.

    Example:
        >>> plain_labels(np.array([2, 10], dtype=object), name="y").tolist()
        [2, 10]
    """
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iubUSO":
        raise ValueError(
            f"{name} must hold one class per example, integers or text, got {array.dtype} of shape "
            f"{array.shape}; convert numbers with astype(int)"
        )
    if len(array) == 0:
        raise ValueError(f"{name} must hold at least one example, got none")
    if array.dtype.kind != "O":
        return array
    values = array.tolist()
    if missing := [row for row, value in enumerate(values) if _is_missing(value)]:
        raise ValueError(
            f"{name} must hold a class for each example, but examples {few(missing)} have none; "
            "label or drop them"
        )
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.int64)
    return np.array([str(value) for value in values])


def encoded_labels(
    labels: Any, classes: Sequence[str] | None = None, *, name: str
) -> tuple[Int64[ndarray, " examples"], tuple[str, ...]]:
    """Labels as positions in the sorted class names, and the names.

    Integers are sorted as numbers, everything else as text.

    Args:
        labels: One label per example: text or integers.
        classes: The class names, if they are known; other labels raise.
        name: Name of the labels in error messages.
    """
    array = plain_labels(labels, name=name)
    present, position = np.unique(array, return_inverse=True)
    names = tuple(str(value) for value in present.tolist())
    if classes is None:
        if len(names) < 2:
            raise ValueError(
                f"{name} must hold at least 2 classes, got only {names[0]!r}; add examples of "
                "another class"
            )
        return position.astype(np.int64), names
    known = {class_name: i for i, class_name in enumerate(classes)}
    if unknown := [value for value in names if value not in known]:
        raise ValueError(
            f"{name} must hold classes of the training data, but {few(unknown)} are not among "
            f"{few(list(classes))}; drop these examples or add them to the training data"
        )
    return np.array([known[value] for value in names], dtype=np.int64)[position], tuple(classes)


def _is_missing(value: Any) -> bool:
    """Whether a label is None, NaN or the missing value of pandas."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal nor unequal
        return True
