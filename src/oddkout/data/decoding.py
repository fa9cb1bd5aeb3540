"""Encoded rows of a table as text that names no one."""

from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from oddkout.data.columns import is_named_identifier
from oddkout.data.table import TableEncoder

# A category that the training part lacks, in a column without rare ones.
_OTHER = "(other)"


def decoded_rows(
    encoder: TableEncoder, rows: Float[ndarray, "rows features"]
) -> dict[str, list[str]]:
    """The cells of encoded rows by column, as text.

    Only what the encoder keeps can be shown, so that rare categories, identifiers, free text and
    groups cannot. Numbers have three digits, dates are years, and columns of text or with the name
    of an identifier are left out. A missing number is its column's median.

    Args:
        encoder: The encoder.
        rows: What it returned.
    """
    fitted = encoder.to_dict()
    cells: dict[str, list[str]] = {}
    for place, name in enumerate(fitted["numeric"]):
        values = rows[:, place].astype(np.float64) * fitted["scales"][place]
        values += fitted["means"][place]
        cells[name] = [_year(v) if name in fitted["dates"] else f"{v:.3g}" for v in values]
    start = len(fitted["numeric"])
    for name, categories in zip(fitted["text"], fitted["categories"], strict=True):
        part = rows[:, start : start + len(categories)]
        start += len(categories)
        cells[name] = [
            categories[int(row.argmax())] if row.max(initial=0) > 0 else _OTHER for row in part
        ]
    return {name: shown for name, shown in cells.items() if not is_named_identifier(name)}


def _year(days: Any) -> str:
    """The year of a date."""
    return str(
        (np.datetime64("1970-01-01") + np.timedelta64(round(float(days)), "D")).astype("M8[Y]")
    )
