"""What a column of a table holds: numbers, dates, categories, or what is better left out."""

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

from oddkout.checks import few
from oddkout.data.dates import DateOrder, date_days, date_order

# Words in the name of a column that holds identifiers, and in that of one that numbers its rows.
_IDENTIFIERS = frozenset(
    {"id", "ids", "uid", "uuid", "guid", "pid", "identifier", "key", "mrn", "ssn", "index", "idx",
     "rownames", "rowid", "serial", "barcode", "phone", "account", "unnamed"}
)  # fmt: skip
_NUMBERING = frozenset({"no", "nr", "num", "number", "row", "record", "case"})

_MANY_VALUES = 20  # fewer values are never taken for identifiers if they are repeated
_ROWS_PER_VALUE = 10  # on average; below, many values look like identifiers
_COUNTER_ROWS = 30  # fewer integers are no counter
_FEW_ROWS = 10  # too few to tell categories from identifiers
_LONG_TEXT = 50  # characters of a typical cell
_SENTENCE = 4  # words of a typical cell

Kind = Literal["number", "date", "category", "left out"]


@dataclass(frozen=True, kw_only=True)
class ColumnKind:
    """What a column holds.

    Attributes:
        kind: How it is encoded.
        order: For dates, the order of day, month and year.
        reason: For a column that is left out, why, and how to use it.
    """

    kind: Kind
    order: DateOrder | None = None
    reason: str = ""


def column_kind(column: Any, *, rare_below: int) -> ColumnKind:
    """Find out what a column holds; raise if it mixes numbers or dates with words.

    Args:
        column: A pandas series.
        rare_below: Values with fewer rows are too rare for a category of their own.
    """
    if column.dtype.kind == "M":
        return ColumnKind(kind="date", order="year first")
    if is_category(column):
        return ColumnKind(kind="category")
    present = column.dropna()
    _refuse_nested(present)
    numbers = number_column(present, allow_text=True)
    is_number = ~np.isnan(numbers)
    if (len(present) and is_number.all()) or column.dtype.kind in "fiubm":
        return _kept_unless(_counter_reason(str(column.name), numbers), "number")
    if is_number.any():
        words = present[~is_number]
        raise ValueError(
            f"column {column.name!r} mixes {is_number.sum()} numbers with {len(words)} words such "
            f"as {str(words.iloc[0])!r} in lines {lines(column, column.isin(words))}; leave "
            "unknown cells empty, or pass it as categorical"
        )
    if (order := date_order(present)) is not None:
        dates(column, order)  # raises if one of them is none
        return ColumnKind(kind="date", order=order)
    reason = _text_reason(str(column.name), present.astype(str), rare_below)
    return _kept_unless(reason, "category")


def is_category(column: Any) -> bool:
    """Whether a column has the category type of pandas."""
    return bool(column.dtype.name == "category")


def is_named_identifier(name: str) -> bool:
    """Whether a column is named like an identifier.

    Example:
        >>> is_named_identifier("patientId"), is_named_identifier("humidity")
        (True, False)
    """
    return bool(_words(name) & _IDENTIFIERS)


def number_column(column: Any, *, allow_text: bool = False) -> Float64[ndarray, " rows"]:
    """A column as float64, missing cells as NaN; raise if it holds text or infinities.

    Args:
        allow_text: Return NaN for text, and keep infinities.
    """
    import pandas as pd

    if column.dtype.kind == "m":
        return np.asarray(column / pd.Timedelta(days=1), dtype=np.float64)
    try:
        converted = pd.to_numeric(column, errors="coerce")
    except OverflowError:  # an integer with hundreds of digits
        converted = pd.to_numeric(column.astype(str), errors="coerce")
    numbers = np.asarray(converted.to_numpy(dtype=np.float64, na_value=np.nan))
    if allow_text:
        return numbers
    is_text = np.isnan(numbers) & ~column.isna().to_numpy()
    if is_text.any():
        raise ValueError(
            f"column {column.name!r} holds numbers in the training data, but text in lines "
            f"{lines(column, is_text)}; leave unknown cells empty"
        )
    if np.isinf(numbers).any():
        raise ValueError(
            f"column {column.name!r} must be finite, but is infinite in lines "
            f"{lines(column, np.isinf(numbers))}; leave unknown cells empty"
        )
    return numbers


def dates(column: Any, order: DateOrder) -> Float64[ndarray, " rows"]:
    """A column of dates in days, missing cells as NaN; raise for cells that are no dates."""
    days = date_days(column, order)
    is_wrong = np.isnan(days) & ~column.isna().to_numpy()
    if is_wrong.any():
        raise ValueError(
            f"column {column.name!r} holds dates ({order}), but no dates in lines "
            f"{lines(column, is_wrong)}; correct these cells, or leave them empty"
        )
    return days


def lines(column: Any, is_bad: Any) -> str:
    """Line numbers in the file, where the header is line 1.

    After the split, the index of a frame still numbers the rows of the file. If the index does not
    hold integers, rows are counted instead.
    """
    rows = np.flatnonzero(is_bad)
    if column.index.dtype.kind in "iu":
        rows = column.index.to_numpy()[rows]
    return few((rows + 2).tolist())


def _kept_unless(reason: str, kind: Kind) -> ColumnKind:
    """A column of this kind, or one that is left out if there is a reason."""
    return ColumnKind(kind="left out", reason=reason) if reason else ColumnKind(kind=kind)


def _refuse_nested(present: Any) -> None:
    """Raise for cells that are neither numbers nor text, dates or truth values."""
    kind = present.dtype.name if present.dtype.kind == "c" else ""
    if present.dtype == object:
        nested = (cell for cell in present if isinstance(cell, list | tuple | set | dict | ndarray))
        kind = next((type(cell).__name__ for cell in nested), "")
    if kind:
        raise ValueError(
            f"column {present.name!r} must hold numbers, text, dates or truth values, got {kind}; "
            "spread it over several columns, or drop it"
        )


def _words(name: str) -> set[str]:
    """The words of a name, in lower case: ``patientId`` and ``PATIENT_ID`` have the same."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return set(re.findall(r"[a-z]+", spaced.casefold()))


def _counter_reason(name: str, numbers: Float64[ndarray, " rows"]) -> str:
    """Why a column of numbers is left out; empty if it is not.

    Integers are identifiers if they hardly repeat and are consecutive, or numbered by name; or if
    they are many and identifiers by name.
    """
    whole = numbers[np.isfinite(numbers)]
    if len(whole) < _MANY_VALUES or (whole % 1 != 0).any():
        return ""
    values = len(np.unique(whole))
    is_unique = len(whole) >= _COUNTER_ROWS and values >= 0.95 * len(whole)
    # A training part of four fifths of the rows has gaps.
    is_consecutive = np.ptp(whole) < 1.5 * len(whole)
    is_named = is_named_identifier(name) and values >= _MANY_VALUES
    if is_named or (is_unique and (is_consecutive or _words(name) & _NUMBERING)):
        return (
            f"column {name!r} is left out, because {values} different integers in {len(whole)} "
            f"rows look like identifiers; {_advice(name, values, len(whole))} --numeric {name} to "
            "use them as numbers"
        )
    return ""


def _text_reason(name: str, present: Any, rare_below: int) -> str:
    """Why a column of text is left out; empty if it holds categories."""
    rows = len(present)
    if rows < _FEW_ROWS:
        return ""
    counts = present.value_counts()
    values = len(counts)
    is_rare = counts[counts >= rare_below].sum() < rows / 2
    is_long = present.str.len().median() > _LONG_TEXT
    is_sentence = is_rare and present.str.count(r"\S+").mean() >= _SENTENCE
    if is_long or is_sentence:
        return (
            f"column {name!r} is left out, because it holds free text; pass --text {name} to use "
            "its words"
        )
    is_many = values >= _MANY_VALUES and (
        rows / values < _ROWS_PER_VALUE or is_named_identifier(name)
    )
    if is_many or is_rare:
        return (
            f"column {name!r} is left out, because {values} different texts in {rows} rows look "
            f"like identifiers; {_advice(name, values, rows)} --categorical {name} or --text "
            f"{name} to use them"
        )
    return ""


def _advice(name: str, values: int, rows: int) -> str:
    """What to pass if rows with the same identifier belong together."""
    if values > 0.9 * rows:
        return "pass"
    return f"pass --group {name} if rows with the same one belong together, or"
