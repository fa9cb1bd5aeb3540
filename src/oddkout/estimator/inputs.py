"""What users hand over, as networks take it: checked, encoded, standardised tensors."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Shaped
from numpy import ndarray
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_array
from torch import Tensor

from oddkout.checks import few


class Inputs:
    """Examples of one kind as standardised tensors, by what the training data taught.

    * Arrays and frames of shape (examples, features): every column is standardised. Columns of a
      pandas frame that hold text or categories become one column per category.
    * Images of shape (examples, height, width), (examples, height, width, channels) or (examples,
      channels, height, width): channels are put first and each is standardised. The channels of a
      four-dimensional array are its last axis if that has at most 4 entries and the second more.
    * Anything of more axes is taken as (examples, channels, ...).

    Args:
        is_double: Whether to give features in double precision. Images are always in single.

    Attributes:
        shape: Shape of one example as the network takes it.
    """

    shape: tuple[int, ...]

    def __init__(self, *, is_double: bool) -> None:
        self._is_double = is_double
        self._given: tuple[int, ...] = ()
        self._encoder: Any = None
        self._scaler = StandardScaler()

    def learn(self, x: Any) -> "Inputs":
        """Learn shape, categories, means and deviations; a second time, add to the latter two.

        Args:
            x: Training examples.
        """
        if not self._given and (columns := text_columns(x)):
            one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            self._encoder = make_column_transformer((one_hot, columns), remainder="passthrough")
            self._encoder.fit(_without_gaps(x, columns))
        array = self._array(x)
        if not self._given:
            self._given = array.shape[1:]
            self.shape = _channels_first(array[:1]).shape[1:]
        self._refuse_other_shapes(array)
        self._scaler.partial_fit(_rows(_channels_first(array)))
        return self

    def tensor(self, x: Any) -> Float[Tensor, "examples ..."]:
        """Examples as the network takes them.

        Args:
            x: Examples of the kind that was learned.
        """
        array = self._array(x)
        self._refuse_other_shapes(array)
        first = _channels_first(array)
        rows = self._scaler.transform(_rows(first))
        moved = rows.reshape(first.shape[:1] + first.shape[2:] + first.shape[1:2])
        standardised = np.ascontiguousarray(np.moveaxis(moved, -1, 1), dtype=self._precision)
        return torch.from_numpy(standardised)

    def blank(self) -> Float[Tensor, "1 ..."]:
        """One example of zeros, to try a network on."""
        return torch.from_numpy(np.zeros((1, *self.shape), dtype=self._precision))

    @property
    def _precision(self) -> type[np.floating]:
        return np.float64 if self._is_double and len(self.shape) == 1 else np.float32

    def _array(self, x: Any) -> Shaped[ndarray, "..."]:
        """Examples as numbers, or raise where scikit-learn does."""
        if self._encoder is not None:
            x = self._encoder.transform(_without_gaps(x, text_columns(x)))
        elif columns := text_columns(x):
            raise ValueError(
                f"columns must hold numbers as they did in training, but {few(columns)} hold text"
            )
        array = np.asarray(check_array(x, allow_nd=True, input_name="X"))
        # Bytes become floats of 4 bytes, not 8.
        return array.astype(np.float32) if array.ndim > 2 and array.dtype.kind != "f" else array

    def _refuse_other_shapes(self, array: Shaped[ndarray, "..."]) -> None:
        if array.shape[1:] != self._given:
            raise ValueError(
                f"examples must have the shape of the training data, {self._given}, got "
                f"{array.shape[1:]}; scale images to it, or pass the same columns"
            )


def text_columns(x: Any) -> list[Any]:
    """Names of the columns of a frame that hold no numbers; none of an array."""
    if not (hasattr(x, "columns") and hasattr(x, "dtypes")):
        return []
    return [name for name, dtype in zip(x.columns, x.dtypes, strict=True) if _is_text(dtype)]


def _is_text(dtype: Any) -> bool:
    """Whether a pandas column type is that of text or categories."""
    return str(dtype) in ("str", "string", "object", "category")


def _without_gaps(x: Any, columns: list[Any]) -> Any:
    """The frame, or raise if its text columns have missing cells."""
    if gaps := [name for name in columns if x[name].isna().any()]:
        raise ValueError(
            f"Input X contains NaN: text columns must have no missing cells, but {few(gaps)} do; "
            "fill them, e.g. X.fillna('missing'), or impute them in a pipeline"
        )
    return x


def _channels_first(array: Shaped[ndarray, "..."]) -> Shaped[ndarray, "..."]:
    """Images as (examples, channels, height, width); anything else as it is."""
    if array.ndim == 3:
        return array[:, None]
    if array.ndim == 4 and array.shape[3] <= 4 < array.shape[1]:
        return np.moveaxis(array, 3, 1)
    return array


def _rows(array: Shaped[ndarray, "..."]) -> Shaped[ndarray, "rows channels"]:
    """A row for every place of every example, a column for every channel or feature."""
    return np.moveaxis(array, 1, -1).reshape(-1, array.shape[1])
