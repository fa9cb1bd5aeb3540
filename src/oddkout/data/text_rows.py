"""Rows of a small CSV file as text: predictions and costs."""

import csv
from pathlib import Path

from oddkout.reading import FileError, reading

# More columns are not read from any table.
MOST_COLUMNS = 100_000


def read_text_rows(path: Path) -> list[list[str]]:
    """All rows of a file in UTF-8, separated by commas; blank lines are empty rows."""
    with reading(path, kind="a CSV file"):
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file, strict=True))
        refuse_many_columns(path, max(map(len, rows), default=0))
        return rows


def refuse_many_columns(path: Path, columns: int) -> None:
    """Raise if a table has more columns than are read."""
    if columns > MOST_COLUMNS:
        raise FileError(
            f"{path} must have at most {MOST_COLUMNS:,} columns, got {columns:,}; select some "
            "first, or turn the table if its columns are examples"
        )
