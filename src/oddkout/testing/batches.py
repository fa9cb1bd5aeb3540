"""Read batches in their usual forms: labels, indices, and a digest of the contents."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor
from torch.utils.data import Dataset

from oddkout.checks import Labels, class_labels, few
from oddkout.sets import ClassIndex

_LABEL_KEYS = ("labels", "label", "y", "targets", "target")
_INDEX_KEYS = ("indices", "index", "idx")


class Indices(Dataset[tuple[int, int]]):
    """A data set of (index, label) pairs, for ``check_loader``.

    Put it in place of the training data. The check is then fast and knows which examples were
    drawn.

    Args:
        labels: Class of each example of the data set.

    Example:
        >>> Indices([5, 7, 7])[1]
        (1, 7)
    """

    def __init__(self, labels: Labels) -> None:
        self.labels = class_labels(labels).tolist()

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[int, int]:
        return index, self.labels[index]


class TrainingLabels:
    """The labels of the training data, against which batches are read.

    Attributes:
        classes: The distinct labels, ascending.
        sizes: Number of examples of each class.
    """

    def __init__(self, labels: Labels) -> None:
        index = ClassIndex(labels, singletons="repeat")
        self.classes, self.sizes = index.classes, index.counts
        self._labels = class_labels(labels).cpu()

    def numbered(self, labels: Tensor) -> Int[Tensor, " batch"]:
        """Positions of a batch's labels among the classes."""
        labels = class_labels(labels).cpu()
        positions = torch.searchsorted(self.classes, labels).clamp_max(len(self.classes) - 1)
        unknown = set(labels[self.classes[positions] != labels].tolist())
        if unknown:
            raise ValueError(
                f"batches must hold classes of labels, but {few(sorted(unknown))} are not among "
                "them; pass the labels of the data set that the loader draws from"
            )
        return positions

    def read(self, batch: Any) -> tuple[Tensor, Tensor | None]:
        """Labels of a batch in one of the usual forms, and its indices if it contains them."""
        if isinstance(batch, Mapping):
            labels = next((batch[key] for key in _LABEL_KEYS if key in batch), None)
            indices = next((batch[key] for key in _INDEX_KEYS if key in batch), None)
        elif isinstance(batch, Sequence) and batch and isinstance(batch[-1], Tensor | np.ndarray):
            # (indices, ..., labels), (x, labels), or (indices,)
            indices, labels = batch[0], batch[-1] if len(batch) > 1 else None
        else:
            indices, labels = batch, None
        indices = _whole_numbers(indices)
        if labels is None and indices is not None:
            if int(indices.min()) >= 0 and int(indices.max()) < len(self._labels):
                return self._labels[indices], indices
        elif (classes := _whole_numbers(labels)) is not None:
            return classes, self._fitting(indices, classes, is_named=isinstance(batch, Mapping))
        raise ValueError(
            "a batch must be (x, labels), (indices, ..., labels), a mapping with 'labels', or "
            f"indices into labels, got {_described(batch)}; pass read=, a function that returns "
            "the labels of a batch and its indices or None"
        )

    def _fitting(self, indices: Tensor | None, labels: Tensor, *, is_named: bool) -> Tensor | None:
        """The indices, if the batch's labels are the labels of these examples."""
        if indices is None:
            return None
        is_inside = len(indices) == len(labels) and bool(
            ((indices >= 0) & (indices < len(self._labels))).all()
        )
        if is_inside and torch.equal(self._labels[indices], labels):
            return indices
        if is_named:
            raise ValueError(
                "the examples of a batch must have the classes given by labels, but they have "
                "others; pass the labels of the data set that the loader draws from, in its order"
            )
        return None  # integers, but not indices


def leaves(batch: Any) -> Iterator[Tensor]:
    """All tensors and arrays in a batch."""
    if isinstance(batch, Tensor | np.ndarray):
        yield torch.as_tensor(batch)
    elif isinstance(batch, Mapping | Sequence) and not isinstance(batch, str):
        for part in batch.values() if isinstance(batch, Mapping) else batch:
            yield from leaves(part)


def digest(parts: Iterable[Tensor]) -> bytes:
    """A hash of these tensors."""
    contents = blake2b(digest_size=12)
    for part in parts:
        contents.update(part.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return contents.digest()


def _whole_numbers(values: Any) -> Tensor | None:
    """The values as a tensor, if they are integers along one axis; else None."""
    if isinstance(values, Sequence) and all(isinstance(value, int) for value in values):
        values = torch.tensor(values)
    if isinstance(values, np.ndarray):
        values = torch.as_tensor(values)
    if not isinstance(values, Tensor) or values.ndim != 1 or len(values) == 0:
        return None
    is_whole = not (values.is_floating_point() or values.is_complex())
    return values.detach().cpu().long() if is_whole else None


def _described(batch: Any) -> str:
    """Describe a batch for an error message."""
    if isinstance(batch, Mapping):
        return f"a mapping with {list(batch)}"
    if isinstance(batch, Tensor):
        return f"{batch.dtype} of shape {tuple(batch.shape)}"
    if isinstance(batch, Sequence) and not isinstance(batch, str):
        return f"a {type(batch).__name__} of {few([type(part).__name__ for part in batch])}"
    return f"a {type(batch).__name__}"
