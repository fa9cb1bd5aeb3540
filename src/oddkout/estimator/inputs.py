"""What users hand to the estimator, as the pipeline takes it: arrays or an encoded table."""

from typing import Any

import numpy as np
from jaxtyping import Shaped
from numpy import ndarray
from sklearn.utils.validation import check_array

from oddkout.checks import few
from oddkout.data.sources import is_frame
from oddkout.data.table import TableEncoder, mixed_columns


class Inputs:
    """Examples of one kind, as the training data were.

    * Frames go through the encoder of tables: missing cells are imputed, numbers standardised, and
      every category becomes a column. Columns that mix numbers and words are categories.
    * Arrays of shape (examples, features) stay as they are; the pipeline standardises them.
    * Images of shape (examples, height, width), (examples, height, width, channels) or (examples,
      channels, height, width) stay as they are; see ``as_tensor``.

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
        self._shape = self.array(x).shape[1:] if self.encoder is None else ()

    def array(self, x: Any) -> Shaped[ndarray, "..."]:
        """Examples as numbers.

        Args:
            x: Examples of the kind that was learned.
        """
        if self.encoder is not None and is_frame(x):
            return self.encoder.encode(_named(x))
        if self.encoder is not None:
            raise ValueError(
                "examples must come as a frame, as in training, got "
                f"{type(x).__name__}; pass a frame with the columns {few(self.encoder.columns)}"
            )
        array = np.asarray(check_array(x, allow_nd=True, input_name="X"))
        if hasattr(self, "_shape") and array.shape[1:] != self._shape:
            raise ValueError(
                f"examples must have the shape of the training data, {self._shape}, got "
                f"{array.shape[1:]}; scale images to it, or pass the same columns"
            )
        return array


def _named(frame: Any) -> Any:
    """The frame with text as names of its columns."""
    return frame.set_axis([str(column) for column in frame.columns], axis=1)
