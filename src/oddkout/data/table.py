"""Encode the columns of a table as numbers."""

import re
import warnings
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float32, Shaped
from numpy import ndarray

from oddkout.checks import at_least, few, suggestion
from oddkout.data.categories import MISSING, RARE_BELOW, cells_of, kept_categories, one_hot
from oddkout.data.columns import column_kind, dates, is_category, lines, number_column
from oddkout.data.dates import DateOrder
from oddkout.data.names import refuse_unknown
from oddkout.data.scaling import fitted_scaler
from oddkout.data.words import WORD_FEATURES, hashed_words

# Standardised numbers beyond this are cut off, so that they stay finite in float32.
FARTHEST = 1e30


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
        given = "no target is given" if target is None else f"there is no column {target!r}"
        raise ValueError(
            f"target (--target) must name the column of {source} that holds the class, but "
            f"{given}; {suggestion(target or '', columns)}"
        )
    if repeated := sorted({name for name in columns if columns.count(name) > 1}):
        raise ValueError(
            f"{source} must name every column once, but {few(repeated)} occur more than once; "
            "rename or drop them"
        )
    if len(frame) == 0:
        raise ValueError(f"{source} must hold at least one row under its header, got none")
    if len(columns) == 1:
        raise ValueError(f"{source} must hold features besides {target!r}, got no other column")
    named = dense_frame(frame)
    return named.drop(columns=target), _labels(source, target, named[target])


def dense_frame(frame: Any) -> Any:
    """The frame with all names as text, and with sparse columns written out."""
    named = frame.set_axis([str(column) for column in frame.columns], axis=1)
    sparse = {
        name: named[name].sparse.to_dense()
        for name in named.columns
        if named[name].dtype.name.startswith("Sparse")
    }
    return named.assign(**sparse) if sparse else named


class TableEncoder:
    """Encodes the columns of a table as numbers, with parameters fitted to the training part.

    * Numbers and truth values (0 and 1): missing ones are replaced by the median of their column,
      and all are standardised.
    * Dates: as the number of days since 1970-01-01.
    * Categories: one column for each that has at least ``rare_below`` training rows, one for
      missing cells, and one for all others, which new categories share. Without rare categories in
      the training part, a new one is encoded as all zeros.
    * Text, only if it is named as such: hashed words and pairs of words.

    Columns of identifiers and of free text are left out, unless an argument says what they hold.
    No rare category, identifier or word is kept.

    Args:
        frame: Feature columns of the training part.
        categorical: Columns to treat as categories.
        text: Columns to treat as text.
        numeric: Columns to treat as numbers although they look like identifiers.
        rare_below: Least number of training rows of a category that is not merged with others.

    Attributes:
        columns: Names of the input columns.
        categorical: Names of those that hold categories.
        features: Names of the output columns.
        sources: Name of the input column of each output column.
        constant: Names of the columns with a single value.
        missing: Number of missing cells of each column that has any.
        left_out: Reasons why columns are left out, by name.
    """

    def __init__(
        self,
        frame: Any,
        *,
        categorical: Collection[str] = (),
        text: Collection[str] = (),
        numeric: Collection[str] = (),
        rare_below: int = RARE_BELOW,
    ) -> None:
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import StandardScaler

        at_least("rare_below", rare_below, 1)
        _refuse_contradictions(frame, categorical=categorical, text=text, numeric=numeric)
        self._dates: dict[str, DateOrder] = {}
        self.left_out: dict[str, str] = {}
        kinds: dict[str, list[str]] = {"number": [], "category": [], "text": []}
        for name in frame.columns:
            if name in categorical:
                kinds["category"].append(name)
            elif name in text:
                kinds["text"].append(name)
            elif name in numeric:
                kinds["number"].append(name)
            else:
                found = column_kind(frame[name], rare_below=rare_below)
                if found.kind == "left out":
                    self.left_out[name] = found.reason
                    continue
                if found.order is not None:
                    self._dates[name] = found.order
                kinds["category" if found.kind == "category" else "number"].append(name)
        if not any(kinds.values()):
            raise ValueError(
                "the table must hold a column to learn from, but every one is left out: "
                f"{'; '.join(list(self.left_out.values())[:3])}"
            )
        self.columns = tuple(name for name in frame.columns if name not in self.left_out)
        self._numeric, self._category, self._text = map(tuple, kinds.values())
        self.constant = tuple(n for n in self.columns if frame[n].nunique(dropna=False) == 1)
        gaps = frame.isna().sum()
        self.missing = {name: int(gaps[name]) for name in self.columns if gaps[name]}

        self._imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        self._scaler = StandardScaler()
        if self._numeric:
            with warnings.catch_warnings():  # an empty column becomes 0 and is in `constant`
                warnings.simplefilter("ignore")
                numbers = self._imputer.fit_transform(self._numbers(frame))
            self._scaler = fitted_scaler(numbers)
        self._categories = [
            kept_categories(cells_of(frame[name]), rare_below=rare_below) for name in self._category
        ]

    @property
    def categorical(self) -> tuple[str, ...]:
        """Names of the columns that hold categories."""
        return self._category

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the output columns."""
        pairs = zip(self._category, self._categories, strict=True)
        return (
            *self._numeric,
            *(f"{name}={value}" for name, seen in pairs for value in seen),
            *(f"{name}#{place}" for name in self._text for place in range(WORD_FEATURES)),
        )

    @property
    def sources(self) -> tuple[str, ...]:
        """Name of the input column of each output column."""
        pairs = zip(self._category, self._categories, strict=True)
        return (
            *self._numeric,
            *(name for name, seen in pairs for _ in seen),
            *(name for name in self._text for _ in range(WORD_FEATURES)),
        )

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
        frame = dense_frame(frame[list(self.columns)])
        if len(frame) == 0:  # which scikit-learn's transformers refuse
            return np.zeros((0, len(self.features)), dtype=np.float32)
        parts = []
        if self._numeric:
            scaled = self._scaler.transform(self._imputer.transform(self._numbers(frame)))
            parts.append(scaled.clip(-FARTHEST, FARTHEST).astype(np.float32))
        for name, seen in zip(self._category, self._categories, strict=True):
            parts.append(one_hot(cells_of(frame[name]), seen))
        parts += [hashed_words(frame[name]) for name in self._text]
        return np.concatenate(parts, axis=1)

    def to_dict(self) -> dict[str, Any]:
        """The fitted parameters, as plain values for JSON."""
        has_numbers = bool(self._numeric)
        return {
            "columns": list(self.columns),
            "numeric": list(self._numeric),
            "medians": self._imputer.statistics_.tolist() if has_numbers else [],
            "means": self._scaler.mean_.tolist() if has_numbers else [],
            "scales": self._scaler.scale_.tolist() if has_numbers else [],
            "dates": dict(self._dates),
            "text": list(self._category),
            "categories": [list(seen) for seen in self._categories],
            "words": list(self._text),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "TableEncoder":
        """Restore an encoder from ``to_dict``; it encodes bit-identically."""
        import pandas as pd

        medians, words = values["medians"], values.get("words", [])
        # Fit to a single row of medians and first categories; the other parameters are set below.
        row = dict(zip(values["numeric"], ([float(m)] for m in medians), strict=True))
        row |= {name: [MISSING] for name in (*values["text"], *words)}
        encoder = cls(
            pd.DataFrame(row)[values["columns"]],
            categorical=values["text"],
            text=words,
            numeric=values["numeric"],
        )
        if medians:
            encoder._scaler.mean_ = np.array(values["means"])
            encoder._scaler.scale_ = np.array(values["scales"])
        encoder._dates = dict(values.get("dates", {}))
        encoder._categories = [tuple(seen) for seen in values["categories"]]
        encoder.constant, encoder.missing = (), {}
        return encoder

    def numbers_of(self, name: str, frame: Any) -> Shaped[ndarray, " rows"]:
        """A column as float64, missing cells as NaN: dates in days, truth values as 0 and 1."""
        if name in self._dates:
            return dates(frame[name], self._dates[name])
        return number_column(frame[name])

    def _numbers(self, frame: Any) -> Shaped[ndarray, "rows columns"]:
        """The numeric columns, or raise if they hold text or infinities."""
        return np.stack([self.numbers_of(name, frame) for name in self._numeric], axis=1)


def mixed_columns(frame: Any) -> list[str]:
    """Names of the columns of a frame that hold numbers and words; the encoder refuses those."""
    mixed = []
    for name in frame.columns:
        present = frame[name].dropna()
        if present.dtype.kind == "O" and not is_category(present):
            is_number = ~np.isnan(number_column(present, allow_text=True))
            if 0 < is_number.sum() < len(is_number):
                mixed.append(name)
    return mixed


def _refuse_contradictions(frame: Any, **given: Collection[str]) -> None:
    """Raise for names of no column, and for a column that is said to hold two things."""
    for option, names in given.items():
        refuse_unknown(names, list(frame.columns), option=option)
    names = [name for columns in given.values() for name in set(columns)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(
            f"a column must be one of {', '.join(given)}, but {few(twice)} are named for several; "
            "name each for one"
        )


def _labels(path: str | Path, target: str, column: Any) -> Shaped[ndarray, "..."]:
    """The target as integers if all its values are integers, else as text."""
    if column.isna().any():
        raise ValueError(
            f"each row of {path} must have a class, but {target!r} is empty or NA in lines "
            f"{lines(column, column.isna())}; label or drop these rows"
        )
    names = np.array([str(value) for value in column.tolist()])
    distinct = np.unique(names)
    if all(re.fullmatch(r"0|-?[1-9]\d{0,17}", name) for name in distinct):
        return names.astype(np.int64)
    if len(distinct) > 20 and all(map(_is_number, distinct)):
        raise ValueError(
            f"{target!r} of {path} must hold classes, but its {len(distinct)} different fractions "
            "look like measurements; choose another column, or bin them into classes first"
        )
    return names


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True
