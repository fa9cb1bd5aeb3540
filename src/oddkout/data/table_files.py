"""Read tables as they come: CSV and TSV in any usual form, Excel and Parquet."""

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oddkout.checks import few
from oddkout.data.csv_form import CsvForm, csv_form
from oddkout.data.text_rows import refuse_many_columns
from oddkout.reading import FileError, reading, refuse_large

TABLE_SUFFIXES = (".csv", ".tsv", ".xlsx", ".parquet")

# Cells of a sheet that are empty in all but name; pandas knows more of them in CSV files.
_EMPTY = frozenset({"", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None"})

# Memory for a value of a Parquet file and for a cell of a sheet, at least.
_VALUE_BYTES, _CELL_BYTES = 8, 64

_DECIMAL_COMMA = r"\s*[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?([eE][+-]?\d+)?\s*"
_THOUSANDS_COMMA = r"\s*[+-]?\d{1,3}(,\d{3})*(\.\d+)?\s*"


def is_table(path: Path) -> bool:
    """Whether a path has the name of a table.

    Example:
        >>> is_table(Path("Patients.CSV"))
        True
    """
    return path.suffix.lower() in TABLE_SUFFIXES


def read_frame(path: Path, target: str | None = None) -> Any:
    """Read a table as a pandas frame; the arguments are those of ``read_table``."""
    return read_table(path, target)[0]


def read_table(path: Path, target: str | None = None) -> tuple[Any, tuple[str, ...]]:
    """Read a table as a pandas frame, with notes on what was guessed, one sentence each.

    Encoding, separator and decimal commas are found from the content.

    Args:
        path: A ``.csv``, ``.tsv``, ``.xlsx`` or ``.parquet`` file.
        target: A column to read as text, so that classes keep their names.
    """
    import pandas as pd

    readers = {".parquet": _read_parquet, ".xlsx": _read_sheet}
    with reading(path, kind="a table"):
        try:
            return readers.get(path.suffix.lower(), _read_csv)(path, target)
        except pd.errors.EmptyDataError:
            raise FileError(
                f"{path} must begin with a line of column names, got an empty file"
            ) from None


def _read_csv(path: Path, target: str | None) -> tuple[Any, tuple[str, ...]]:
    """A table of text; the separator may be a comma, a semicolon, a tab or a bar."""
    import pandas as pd

    form = csv_form(path, target=target)
    _refuse_names(path, form.columns)
    options: dict[str, Any] = {"sep": form.separator, "encoding": form.encoding}
    if form.ends_with_separator:
        options["index_col"] = False  # else pandas takes the first column for names of rows
    # As text: pandas would read "1.234" as a small number even where a comma is the decimal mark.
    has_decimal_commas = form.separator != "," and _has_decimal_commas(path, form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.ParserWarning)
        frame = pd.read_csv(
            path,
            dtype=str if has_decimal_commas else {target: str} if target else None,
            low_memory=False,
            **options,
        )
    notes: tuple[str, ...] = ()
    if form.encoding in ("cp1252", "latin-1"):
        notes += (f"the table is not written in UTF-8 and was read as {form.encoding}",)
    if has_decimal_commas:
        notes += ("numbers were read with decimal commas: 1.234,5 is 1234.5",)
    pattern = _DECIMAL_COMMA if has_decimal_commas else None
    return _with_numbers(frame.reset_index(drop=True), target, pattern=pattern), notes


def _read_sheet(path: Path, target: str | None) -> tuple[Any, tuple[str, ...]]:
    """The first sheet of a workbook; its first row holds the names."""
    import pandas as pd
    from openpyxl import load_workbook

    with path.open("rb") as stream:
        book = load_workbook(stream, read_only=True, data_only=True)
        rows = _rows_of_sheet(path, book.worksheets[0])
        sheets = book.sheetnames
    if not rows:
        raise pd.errors.EmptyDataError
    width = max(map(len, rows))
    header, *body = [[*row, *[None] * (width - len(row))] for row in rows]
    used = [
        place
        for place, name in enumerate(header)
        if name is not None or any(row[place] is not None for row in body)
    ]
    names = [f"Unnamed: {i}" if header[i] is None else str(header[i]) for i in used]
    _refuse_names(path, names)
    cells = {
        name: [None if row[i] in _EMPTY else row[i] for row in body]
        for name, i in zip(names, used, strict=True)
    }
    frame = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in cells.items()})
    if target in names:
        column = frame[target]
        frame[target] = column.map(_name_of_class, na_action="ignore")
    notes: tuple[str, ...] = ()
    if len(sheets) > 1:
        notes = (f"the workbook has {len(sheets)} sheets; the first, {sheets[0]!r}, was read",)
    return _with_numbers(frame.infer_objects(), target), notes


def _rows_of_sheet(path: Path, sheet: Any) -> list[list[Any]]:
    """The rows of a sheet that are not empty; cells far outside are not filled up to."""
    sheet.reset_dimensions()  # what the file claims of its size
    rows, cells = [], 0
    for row in sheet.iter_rows(values_only=True):
        cells += max(len(row), 1)
        refuse_large(path, cells * _CELL_BYTES)
        if any(cell is not None for cell in row):
            rows.append(list(row))
    return rows


def _read_parquet(path: Path, target: str | None) -> tuple[Any, tuple[str, ...]]:
    """A Parquet file; columns of lists and records are refused."""
    import pyarrow as pa
    from pyarrow import parquet

    described = parquet.read_metadata(path)
    schema = parquet.read_schema(path)
    _refuse_names(path, schema.names)
    groups = (described.row_group(i).total_byte_size for i in range(described.num_row_groups))
    refuse_large(path, max(sum(groups), described.num_rows * len(schema.names) * _VALUE_BYTES))
    if nested := [field.name for field in schema if pa.types.is_nested(field.type)]:
        raise FileError(
            f"{path} must hold one value in a cell, but columns {few(nested)} hold lists or "
            "records; spread them over columns, or drop them"
        )
    table = parquet.read_table(path)
    table.validate(full=True)  # otherwise invalid text raises later, elsewhere
    return table.to_pandas(), ()


def _refuse_names(path: Path, names: Sequence[str]) -> None:
    """Raise if there are too many columns, or two of one name, which pandas would change."""
    refuse_many_columns(path, len(names))
    counts = Counter(name for name in names if name)
    if repeated := [name for name, count in counts.items() if count > 1]:
        raise FileError(
            f"{path} must name every column once, but {few(repeated)} occur more than once; "
            "rename or drop them"
        )


def _has_decimal_commas(path: Path, form: CsvForm) -> bool:
    """Whether a field somewhere in the file is a number with a comma for the decimal mark.

    In a file of semicolons any comma in a number is; elsewhere 1,234 may be a thousand.
    """
    digits = r"\d+" if form.separator == ";" else r"(?:\d{1,2}|\d{4,})"
    number = re.compile(rf"(?:^|[;\t|\"])\s*[+-]?\d[\d.]*,{digits}\s*(?:$|[;\t|\"])")
    with path.open(encoding=form.encoding, errors="replace") as lines:
        return any(number.search(line.rstrip("\r\n")) for line in lines)


def _with_numbers(frame: Any, target: str | None, *, pattern: str | None = None) -> Any:
    """The frame with columns of numbers and of truth values that were read as text.

    Args:
        pattern: How numbers are written, if the file says so; otherwise each column does.
    """
    for name in frame.columns:
        if name != target and frame[name].dtype.kind == "O":
            frame[name] = _number_if_all_are(frame[name], pattern)
    return frame


def _number_if_all_are(column: Any, pattern: str | None) -> Any:
    """The column as numbers if every cell is written as one, otherwise unchanged."""
    import pandas as pd

    present = column.dropna()
    if len(present) == 0 or not all(isinstance(cell, str) for cell in present):
        return column
    has_comma = present.str.contains(",", regex=False).any()
    if pattern == _DECIMAL_COMMA or has_comma:
        # Within commas as separators, "1,234" in quotes is a thousand; "1,5" can only be decimal.
        for candidate in [pattern] if pattern else [_THOUSANDS_COMMA, _DECIMAL_COMMA]:
            if present.str.fullmatch(candidate).all():
                is_decimal = candidate == _DECIMAL_COMMA
                drop, point = (".", ",") if is_decimal else (",", ".")
                plain = column.str.replace(drop, "", regex=False)
                return pd.to_numeric(plain.str.replace(point, ".", regex=False))
    if pattern is not None:
        if set(present.str.casefold()) <= {"true", "false"}:
            return column.str.casefold().map({"true": True, "false": False})
        numbers = pd.to_numeric(column, errors="coerce")
        return numbers if numbers[present.index].notna().all() else column
    return column


def _name_of_class(cell: Any) -> str:
    """A class in a sheet as text; Excel knows no whole numbers."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
