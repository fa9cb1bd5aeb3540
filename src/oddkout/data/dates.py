"""Dates in columns of text, and as numbers: days since 1970-01-01."""

from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float64
from numpy import ndarray

# The order in which a column writes dates: 2024-01-31; 31.01.2024 or 31/01/2024; 01/31/2024.
DateOrder = Literal["year first", "day first", "month first"]

_TIME = r"(?:[ T]+(?P<time>\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?) ?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
_YEAR, _MONTH, _DAY = r"(?P<year>\d{4})", r"(?P<month>\d{1,2})", r"(?P<day>\d{1,2})"
_PARTS: dict[DateOrder, tuple[str, ...]] = {
    "year first": (_YEAR, _MONTH, _DAY),
    "day first": (_DAY, _MONTH, _YEAR),
    "month first": (_MONTH, _DAY, _YEAR),
}


def date_order(present: Any) -> DateOrder | None:
    """The order of a column's dates; None if fewer than half of the cells are dates.

    The order with the most valid dates. If day first and month first give as many, slashes mean
    month first, dots and hyphens day first.

    Args:
        present: A pandas series without missing cells.
    """
    if len(present) == 0:
        return None
    counts = {
        order: int(np.isfinite(date_days(present, order)).sum()) for order in get_args(DateOrder)
    }
    if max(counts.values()) < len(present) / 2:
        return None
    is_slashed = bool(present.astype(str).str.contains("/", regex=False).any())
    preferred: DateOrder = "month first" if is_slashed else "day first"
    return max(counts, key=lambda order: (counts[order], order == preferred))


def date_days(column: Any, order: DateOrder) -> Float64[ndarray, " rows"]:
    """Days since 1970-01-01 of every cell; NaN for missing cells and for what is no date.

    Args:
        column: A pandas series of dates or of text.
        order: The order in which text writes dates.

    Example:
        >>> import pandas as pd
        >>> date_days(pd.Series(["02.01.1970", "1970-01-02 12:00", None]), "day first").tolist()
        [1.0, nan, nan]
    """
    import pandas as pd

    if column.dtype.kind == "M" or not all(isinstance(cell, str) for cell in column.dropna()):
        moments = pd.to_datetime(column, utc=True, errors="coerce")
    else:
        form = "[-/.]".join(_PARTS[order])
        parts = column.astype("str").str.extract(rf"^\s*{form}{_TIME}\s*$")
        clock = parts["time"].fillna("00:00").str.zfill(5)
        text = (
            parts["year"] + "-" + parts["month"].str.zfill(2) + "-" + parts["day"].str.zfill(2)
            + "T" + clock.where(clock.str.index(":") == 2, "0" + clock)
            + parts["zone"].fillna("")
        )  # fmt: skip
        moments = pd.to_datetime(text, format="ISO8601", utc=True, errors="coerce")
    days = (moments - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
    return np.asarray(days, dtype=np.float64)
