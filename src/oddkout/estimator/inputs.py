"""Inputs of the estimator, converted for the pipeline: arrays or encoded tables."""

from typing import Any

import numpy as np
from jaxtyping import Shaped
from numpy import ndarray
from sklearn.utils.validation import check_array

from oddkout.checks import few
from oddkout.data.gaps import encoded_with_gaps
from oddkout.data.sources import is_frame
from oddkout.data.table import TableEncoder, dense_frame, mixed_columns

# A sparse matrix is written out if this many bytes suffice.
_MOST_BYTES = 4 << 30

# A cell this many times as large as nine tenths of its column is worth a note.
_FAR = 1e6


class Inputs:
    """Converts examples to arrays of numbers, in the same way as the training examples.

    * Frames are encoded: each category becomes a column, dates become days. Columns that mix
      numbers and words are categories. Missing numbers stay NaN for the stack, whose views encode
      them, and become medians for a single method, as in ``oddkout.fit``.
    * Arrays and sparse matrices of shape (examples, features) are unchanged; NaN stands for missing
      cells.
    * Images of shape (examples, height, width), (examples, height, width, channels) or (examples,
      channels, height, width) are unchanged; see ``as_tensor``.

    Args:
        x: Training examples.
        keeps_missing: Whether missing numbers of a frame stay NaN.

    Attributes:
        encoder: The encoder of a table; None for arrays.
        notes: What a user should know about the columns, one sentence each.
    """

    def __init__(self, x: Any, *, keeps_missing: bool = True) -> None:
        self.encoder, self._shape = None, None
        self._keeps_missing = keeps_missing
        mixed: list[str] = []
        if is_frame(x):
            frame = dense_frame(x)
            mixed = mixed_columns(frame)
            self.encoder = TableEncoder(frame, categorical=mixed)
            names: list[Any] = list(frame.columns)
            numbers = _numbers(frame)
        else:
            array = _checked(x)
            self._shape = array.shape[1:]
            numbers, names = array, list(range(array.shape[1]))
        self.notes = (*_mixed_note(mixed), *(_column_notes(numbers, names)))

    def array(self, x: Any) -> Shaped[ndarray, "..."]:
        """Examples as numbers; raise if they differ in kind or shape from the training examples."""
        if self.encoder is not None:
            if not is_frame(x):
                raise ValueError(
                    "examples must be a frame, because the training examples were one, got "
                    f"{type(x).__name__}; pass a frame with the columns {few(self.encoder.columns)}"
                )
            if self._keeps_missing:
                return encoded_with_gaps(self.encoder, dense_frame(x))
            return self.encoder.encode(dense_frame(x))
        array = _checked(x)
        if array.shape[1:] != self._shape:
            raise ValueError(
                f"examples must have the shape of the training data, {self._shape}, got "
                f"{array.shape[1:]}; scale images to it, or pass the same columns"
            )
        return array


def _checked(x: Any) -> Shaped[ndarray, "..."]:
    """The array after the checks of scikit-learn."""
    if hasattr(x, "toarray"):
        size = 8 * int(np.prod(x.shape))
        if size > _MOST_BYTES:
            raise ValueError(
                f"a sparse matrix is written out and must fit into {_MOST_BYTES >> 30} GB, got "
                f"{x.shape[0]} x {x.shape[1]} cells; keep fewer columns, e.g. by TruncatedSVD"
            )
        x = x.toarray()
    finite = "allow-nan" if is_table(x) else True
    return np.asarray(check_array(x, allow_nd=True, input_name="X", ensure_all_finite=finite))


def is_table(x: Any) -> bool:
    """Whether examples are rows of features rather than images."""
    if is_frame(x) or hasattr(x, "toarray"):
        return True
    try:
        return np.asarray(x).ndim <= 2
    except (TypeError, ValueError):  # scikit-learn says what is wrong
        return True


def refuse_words(x: Any) -> None:
    """Raise if an array holds words."""
    if not isinstance(x, ndarray) or x.dtype.kind not in "OUS" or x.ndim != 2:
        return
    for column in range(x.shape[1]):
        for value in x[:, column]:
            if isinstance(value, str) and not _is_number(value):
                raise ValueError(
                    f"an array must hold numbers, but column {column} holds {value!r}; pass a data "
                    "frame, whose columns of words are encoded"
                )


def refuse_repeated_names(frame: Any) -> None:
    """Raise if columns of a frame have the same name."""
    names = [str(name) for name in frame.columns]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(
            f"a frame must name every column once, but {few(repeated)} occur more than once; "
            "rename or drop them"
        )


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _numbers(frame: Any) -> Shaped[ndarray, "rows columns"]:
    """The columns of a frame as numbers, for notes; NaN for words."""
    import pandas as pd

    columns = [
        np.asarray(pd.to_numeric(frame[name], errors="coerce"), dtype=np.float64)
        if frame[name].dtype.kind in "fiub"
        else np.where(frame[name].isna(), np.nan, pd.factorize(frame[name].astype(str))[0] % 2)
        for name in frame.columns
    ]
    return np.stack(columns, axis=1) if columns else np.zeros((len(frame), 0))


def _mixed_note(columns: list[str]) -> tuple[str, ...]:
    """A note on columns that mix numbers and words."""
    if not columns:
        return ()
    return (
        f"columns {few(columns)} mix numbers and words and are treated as categories; convert them "
        "if they are numbers",
    )


def _column_notes(x: Shaped[ndarray, "..."], names: list[Any]) -> tuple[str, ...]:
    """Notes on empty and constant columns, and on cells far beyond all others."""
    if x.ndim != 2 or not x.size:
        return ()
    cells = np.asarray(x, dtype=np.float64)
    is_known = ~np.isnan(cells)
    if not is_known.any():
        raise ValueError("examples must hold numbers, but every cell is missing (NaN)")
    low = np.where(is_known, cells, np.inf).min(axis=0)
    high = np.where(is_known, cells, -np.inf).max(axis=0)
    size = np.abs(np.where(is_known, cells, 0.0))
    most = np.quantile(size, 0.9, axis=0)
    has_cells = is_known.any(axis=0)
    sentences = {
        "have no known cell and are not used; drop them": ~has_cells,
        "are constant and are not used; drop them": (low == high) & is_known.all(axis=0),
        "hold cells more than a million times as large as most; leave cells empty that stand for "
        "missing values": (most > 0) & (size.max(axis=0) > _FAR * np.maximum(most, 1e-300)),
    }
    return tuple(
        f"columns {few([names[column] for column in np.flatnonzero(is_found)])} {text}"
        for text, is_found in sentences.items()
        if np.any(is_found)
    )
