"""Tables: read CSV and Parquet files, and encode their columns as numbers."""

import re
import warnings
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float32, Shaped
from numpy import ndarray

from oddkout.checks import few

MISSING = "(missing)"


def features_and_labels(
    frame: Any, *, target: str | None, source: str | Path
) -> tuple[Any, Shaped[ndarray, "..."]]:
    """Split a table into its feature columns and its labels.

    Args:
        frame: A pandas frame.
        target: Name of the column that holds the class.
        source: Name of the table in error messages.
    """
    columns = [str(column) for column in frame.columns]
    if target is None or target not in columns:
        close = get_close_matches(target or "", columns, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"the columns are {few(columns)}"
        given = "no target is given" if target is None else f"there is no column {target!r}"
        raise ValueError(
            f"target (--target) must name the column of {source} that holds the class, but "
            f"{given}; {hint}"
        )
    if len(set(columns)) < len(columns):
        raise ValueError(f"{source} must name every column once, got {few(columns)}")
    if len(frame) == 0:
        raise ValueError(f"{source} must hold at least one row under its header, got none")
    if len(columns) == 1:
        raise ValueError(f"{source} must hold features besides {target!r}, got no other column")
    named = frame.set_axis(columns, axis=1)
    return named.drop(columns=target), _labels(source, target, named[target])


class TableEncoder:
    """Encodes the columns of a table as numbers, with parameters fitted to the training part.

    Missing numbers are replaced by the median of their column, and numbers are standardised. Text
    is one-hot encoded: one column per category of the training part, one of them for missing text.
    A new category is encoded as all zeros. The work is done by transformers of scikit-learn.

    Args:
        frame: Feature columns of the training part.
        categorical: Columns to treat as categories although they hold numbers.

    Attributes:
        columns: Names of the input columns.
        features: Names of the output columns.
        constant: Names of the columns with a single value.
        missing: Number of missing cells of each column that has any.
    """

    def __init__(self, frame: Any, *, categorical: Collection[str] = ()) -> None:
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import OneHotEncoder, StandardScaler

        if unknown := sorted(set(categorical) - set(frame.columns)):
            raise ValueError(
                f"categorical columns must be in the table, but {few(unknown)} are not; the "
                f"columns are {few(frame.columns)}"
            )
        is_text = {name: name in categorical or _is_text(frame[name]) for name in frame.columns}
        self.columns = tuple(frame.columns)
        self._numeric = tuple(name for name in self.columns if not is_text[name])
        self._text = tuple(name for name in self.columns if is_text[name])
        self.constant = tuple(n for n in self.columns if frame[n].nunique(dropna=False) == 1)
        gaps = frame.isna().sum()
        self.missing = {name: int(gaps[name]) for name in self.columns if gaps[name]}

        self._imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        self._scaler, self._one_hot = StandardScaler(), None
        if self._numeric:
            with warnings.catch_warnings():  # an empty column becomes 0 and is in `constant`
                warnings.simplefilter("ignore")
                numbers = self._imputer.fit_transform(self._numbers(frame))
            self._scaler.fit(numbers)
        if self._text:
            self._one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            self._one_hot.fit(self._texts(frame))

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the output columns."""
        if self._one_hot is None:
            return self._numeric
        pairs = zip(self._text, self._one_hot.categories_, strict=True)
        return self._numeric + tuple(f"{name}={value}" for name, seen in pairs for value in seen)

    def encode(self, frame: Any) -> Float32[ndarray, "rows features"]:
        """Encode the rows of a table. Columns are matched by name, in any order.

        Args:
            frame: A pandas frame with the columns of the training part; others are ignored.
        """
        if absent := [name for name in self.columns if name not in frame.columns]:
            raise ValueError(
                f"the table must hold the columns of the training data, but {few(absent)} are "
                f"missing; its columns are {few(frame.columns)}"
            )
        if len(frame) == 0:  # which scikit-learn's transformers refuse
            return np.zeros((0, len(self.features)), dtype=np.float32)
        parts = []
        if self._numeric:
            parts.append(self._scaler.transform(self._imputer.transform(self._numbers(frame))))
        if self._one_hot is not None:
            parts.append(self._one_hot.transform(self._texts(frame)))
        return np.concatenate(parts, axis=1).astype(np.float32)

    def to_dict(self) -> dict[str, Any]:
        """The fitted parameters, as plain values for JSON."""
        seen = [] if self._one_hot is None else [c.tolist() for c in self._one_hot.categories_]
        has_numbers = bool(self._numeric)
        return {
            "columns": list(self.columns),
            "numeric": list(self._numeric),
            "medians": self._imputer.statistics_.tolist() if has_numbers else [],
            "means": self._scaler.mean_.tolist() if has_numbers else [],
            "scales": self._scaler.scale_.tolist() if has_numbers else [],
            "text": list(self._text),
            "categories": seen,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "TableEncoder":
        """Restore an encoder from ``to_dict``; it encodes bit-identically."""
        import pandas as pd

        medians, text = values["medians"], values["text"]
        # Fit to a single row of medians and first categories; the other parameters are set below.
        row = dict(zip(values["numeric"], ([float(m)] for m in medians), strict=True))
        row |= {name: [seen[0]] for name, seen in zip(text, values["categories"], strict=True)}
        encoder = cls(pd.DataFrame(row)[values["columns"]], categorical=text)
        if medians:
            encoder._scaler.mean_ = np.array(values["means"])
            encoder._scaler.scale_ = np.array(values["scales"])
        if encoder._one_hot is not None:
            encoder._one_hot.set_params(categories=[np.array(c) for c in values["categories"]])
            encoder._one_hot.fit(np.array([[c[0] for c in values["categories"]]], dtype=object))
        encoder.constant, encoder.missing = (), {}
        return encoder

    def _numbers(self, frame: Any) -> Shaped[ndarray, "..."]:
        """The numeric columns, or raise if they hold text or infinities."""
        columns = [_number_column(name, frame[name]) for name in self._numeric]
        return np.stack(columns, axis=1)

    def _texts(self, frame: Any) -> Shaped[ndarray, "..."]:
        """The text columns, with a category for missing cells."""
        columns = [
            np.where(frame[name].isna(), MISSING, frame[name].astype(str)).astype(object)
            for name in self._text
        ]
        return np.stack(columns, axis=1)


def read_frame(path: Path, target: str | None = None) -> Any:
    """Read a table as a pandas frame.

    Args:
        path: A ``.csv`` or ``.parquet`` file.
        target: A column to read as text, so that classes keep their names.
    """
    import pandas as pd

    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; check the path")
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet

            table = parquet.read_table(path)
            table.validate(full=True)  # otherwise invalid text raises later, elsewhere
            return table.to_pandas()
        return pd.read_csv(path, dtype={target: str} if target else None, low_memory=False)
    except pd.errors.EmptyDataError:
        raise ValueError(
            f"{path} must begin with a line of column names, got an empty file"
        ) from None
    except ImportError as missing:
        raise ValueError(
            f"reading {path} needs {missing.name}; run: pip install 'oddkout[data]'"
        ) from None
    # Damaged files raise many kinds of exceptions: from the parser, pyarrow and the codec.
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path} cannot be read as a table ({reason}); check the file") from None


def _labels(path: str | Path, target: str, column: Any) -> Shaped[ndarray, "..."]:
    """The target as integers if all its values are integers, else as text."""
    if column.isna().any():
        raise ValueError(
            f"each row of {path} must have a class, but {target!r} is empty or NA in lines "
            f"{_lines(column, column.isna())}; label or drop these rows"
        )
    names = np.array([str(value) for value in column.tolist()])
    if all(re.fullmatch(r"0|-?[1-9]\d{0,17}", name) for name in np.unique(names)):
        return names.astype(np.int64)
    distinct = np.unique(names)
    if len(distinct) > 20 and all(_is_number(name) for name in distinct):
        raise ValueError(
            f"{target!r} of {path} must hold classes, but its {len(distinct)} different fractions "
            "look like measurements; choose another column, or bin them into classes first"
        )
    return names


def mixed_columns(frame: Any) -> list[str]:
    """Names of the columns of a frame that hold numbers and words; the encoder refuses those."""
    mixed = []
    for name in frame.columns:
        if frame[name].dtype.kind not in "fiubmM":
            is_number = [_is_number(value) for value in frame[name].dropna()]
            if 0 < sum(is_number) < len(is_number):
                mixed.append(name)
    return mixed


def _is_text(column: Any) -> bool:
    """Whether a column holds text; raise if it holds dates, or both text and numbers."""
    kind = column.dtype.kind
    if kind in "fiub":
        return False
    if kind in "mM":
        raise ValueError(
            f"column {column.name!r} must hold numbers or text, got dates; turn them into numbers, "
            "e.g. days since a start"
        )
    present = column.dropna()
    is_number = np.array([_is_number(value) for value in present], dtype=bool)
    if 0 < is_number.sum() < len(present):
        words = present[~is_number]
        raise ValueError(
            f"column {column.name!r} mixes {is_number.sum()} numbers with {len(words)} words such "
            f"as {str(words.iloc[0])!r} in lines {_lines(column, column.isin(words))}; leave "
            "unknown cells empty, or pass it as categorical"
        )
    return len(present) == 0 or not is_number.all()


def _number_column(name: str, column: Any) -> Shaped[ndarray, "..."]:
    """A column as float64, or raise if it holds text or infinities."""
    import pandas as pd

    numbers = np.asarray(pd.to_numeric(column, errors="coerce"), dtype=np.float64)
    is_text = np.isnan(numbers) & ~column.isna().to_numpy()
    if is_text.any():
        raise ValueError(
            f"column {name!r} holds numbers in the training data, but text in lines "
            f"{_lines(column, is_text)}; leave unknown cells empty"
        )
    if np.isinf(numbers).any():
        raise ValueError(
            f"column {name!r} must be finite, but is infinite in lines "
            f"{_lines(column, np.isinf(numbers))}; leave unknown cells empty"
        )
    return numbers


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _lines(column: Any, is_bad: Any) -> str:
    """Line numbers in the file, where the header is line 1.

    After the split, the index of a frame still numbers the rows of the file. If the index does not
    hold integers, rows are counted instead.
    """
    rows = np.flatnonzero(is_bad)
    if column.index.dtype.kind in "iu":
        rows = column.index.to_numpy()[rows]
    return few((rows + 2).tolist())
