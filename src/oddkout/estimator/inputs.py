"""Inputs of the estimator, converted for the pipeline: arrays or encoded tables."""

from typing import Any

import numpy as np
from jaxtyping import Shaped
from numpy import ndarray
from sklearn.utils.validation import check_array

from oddkout.checks import few
from oddkout.data.sources import is_frame
from oddkout.data.table import TableEncoder, mixed_columns


class Inputs:
    """Converts examples to arrays of numbers, in the same way as the training examples.

    * Frames are encoded: missing cells are imputed, numbers standardised, and each category becomes
      a column. Columns that mix numbers and words are categories.
    * Arrays of shape (examples, features) are unchanged; the pipeline standardises them.
    * Images of shape (examples, height, width), (examples, height, width, channels) or (examples,
      channels, height, width) are unchanged; see ``as_tensor``.

    Args:
        x: Training examples.

    Attributes:
        encoder: The encoder of a table; None for arrays.
    """

    def __init__(self, x: Any) -> None:
        self.encoder = None
        if is_frame(x):
            frame = _named(x)
            self.encoder = TableEncoder(frame, categorical=mixed_columns(frame))
        self._shape = None if is_frame(x) else _checked(x).shape[1:]

    def array(self, x: Any) -> Shaped[ndarray, "..."]:
        """Examples as numbers; raise if they differ in kind or shape from the training examples."""
        if self.encoder is not None:
            if not is_frame(x):
                raise ValueError(
                    "examples must be a frame, because the training examples were one, got "
                    f"{type(x).__name__}; pass a frame with the columns {few(self.encoder.columns)}"
                )
            return self.encoder.encode(_named(x))
        array = _checked(x)
        if array.shape[1:] != self._shape:
            raise ValueError(
                f"examples must have the shape of the training data, {self._shape}, got "
                f"{array.shape[1:]}; scale images to it, or pass the same columns"
            )
        return array


def _checked(x: Any) -> Shaped[ndarray, "..."]:
    """The array after the checks of scikit-learn."""
    return np.asarray(check_array(x, allow_nd=True, input_name="X"))


def _named(frame: Any) -> Any:
    """The frame with all column names as text."""
    return frame.set_axis([str(column) for column in frame.columns], axis=1)
