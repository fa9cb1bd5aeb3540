"""Inputs of the network: tensors, standardised by the training part."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int64, Shaped
from numpy import ndarray
from torch import Tensor

from oddkout.checks import few
from oddkout.data import Data, as_tensor
from oddkout.data.gaps import encoded_with_gaps
from oddkout.data.table import FARTHEST

# A column or channel with a smaller (relative) deviation counts as constant and is not scaled.
_CONSTANT = 1e-6


@dataclass(frozen=True)
class Standardisation:
    """Subtracts the mean of each column or channel and divides by its standard deviation.

    Attributes:
        mean: Means; a single 0 leaves inputs as they are.
        deviation: Standard deviations; a single 1 leaves inputs as they are.
    """

    mean: tuple[float, ...] = (0.0,)
    deviation: tuple[float, ...] = (1.0,)

    @classmethod
    def of(cls, x: Any, *, is_encoded: bool) -> "Standardisation":
        """Compute the means and deviations of training examples.

        Args:
            x: Training examples, as ``Data`` holds them.
            is_encoded: Whether a table encoder has already standardised them.
        """
        if is_encoded:
            return cls()
        if np.ndim(x) == 2:  # in double precision: columns may have any unit
            columns = np.asarray(x, dtype=np.float64)
            is_known = ~np.isnan(columns)
            count = np.maximum(is_known.sum(axis=0), 1)
            mean = np.where(is_known, columns, 0.0).sum(axis=0) / count
            centred = np.where(is_known, columns - mean, 0.0)
            largest = np.abs(centred).max(axis=0)
            with np.errstate(over="ignore"):
                deviation = np.sqrt((centred**2).sum(axis=0) / count)
            deviation = np.where(np.isfinite(deviation), deviation, largest)
            tiny = _CONSTANT * np.abs(np.where(is_known, columns, 0.0)).max(axis=0)
            return cls(_floats(mean), _floats(np.where(deviation > tiny, deviation, 1.0)))
        images = as_tensor(x)
        axes = tuple(axis for axis in range(images.ndim) if axis != 1)
        mean, deviation = images.mean(dim=axes), images.std(dim=axes)
        deviation = torch.where(deviation > _CONSTANT, deviation, 1.0)
        return cls(_floats(mean), _floats(deviation))

    def __call__(self, x: Any) -> Float[Tensor, "examples ..."]:
        """Standardise examples, given as ``Data`` holds them; returns a float32 tensor."""
        if np.ndim(x) == 2 and len(self.mean) > 1:
            rows = np.asarray(x, dtype=np.float64)
            scaled = (rows - np.array(self.mean)) / np.array(self.deviation)
            return torch.from_numpy(scaled.clip(-FARTHEST, FARTHEST).astype(np.float32))
        tensor = as_tensor(x)
        shape = (1, -1) + (1,) * (tensor.ndim - 2)
        mean, deviation = (torch.tensor(part).view(shape) for part in (self.mean, self.deviation))
        return (tensor - mean) / deviation


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """The tensors of a data set, both parts standardised by the training part.

    ``raw`` and ``raw_test`` are the columns of a table before they are encoded.
    """

    x: Tensor
    y: Tensor
    x_test: Tensor
    y_test: Tensor
    classes: tuple[str, ...]
    standardisation: Standardisation
    notes: tuple[str, ...] = ()
    groups: Tensor | None = None
    test_units: Int64[ndarray, " test"] | None = None
    raw: Any = None
    raw_test: Any = None


def prepared(data: Data, *, allows_missing: bool = False) -> Prepared:
    """Turn a data set into standardised tensors.

    Args:
        data: The data set.
        allows_missing: Whether NaN may stand for missing cells of rows of features, which an
            ``Encoding`` then fills in, with what it learns from the rows of its network. Otherwise
            the missing numbers of a table are medians of the training part.
    """
    x_train, x_test = np.asarray(data.x_train[:]), np.asarray(data.x_test[:])
    if allows_missing and data.encoder is not None and data.raw_train is not None:
        x_train = encoded_with_gaps(data.encoder, data.raw_train)
        x_test = encoded_with_gaps(data.encoder, data.raw_test)
    for part, x in (("training", x_train), ("test", x_test)):
        known = np.where(np.isnan(x), 0, x) if allows_missing and x.dtype.kind == "f" else x
        if broken := non_finite_rows(known):
            raise ValueError(
                f"examples must be finite, but {len(broken)} {part} examples hold NaN or infinity, "
                f"at {few(broken)}; impute or drop them"
            )
    standardisation = Standardisation.of(x_train, is_encoded=data.is_encoded)
    return Prepared(
        x=standardisation(x_train),
        y=torch.from_numpy(data.y_train),
        x_test=standardisation(x_test),
        y_test=torch.from_numpy(data.y_test),
        classes=data.classes,
        standardisation=standardisation,
        notes=data.notes,
        groups=None if data.train_groups is None else torch.from_numpy(data.train_groups),
        test_units=data.test_rows if data.test_groups is None else data.test_groups,
        raw=data.raw_train,
        raw_test=data.raw_test,
    )


def non_finite_rows(x: Shaped[ndarray, "examples ..."]) -> list[int]:
    """Positions of the examples that hold NaN or infinity.

    Example:
        >>> non_finite_rows(np.array([[1.0, 2.0], [np.nan, 3.0]]))
        [1]
    """
    if x.dtype.kind != "f":
        return []
    is_finite = np.isfinite(x).all(axis=tuple(range(1, x.ndim)))
    rows: list[int] = np.flatnonzero(~is_finite).tolist()
    return rows


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
