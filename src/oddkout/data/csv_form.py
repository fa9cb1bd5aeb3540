"""The form of a CSV file, found from its content: encoding, separator, names of the columns."""

import codecs
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE_BYTES = 1 << 16
_SAMPLE_ROWS = 200
_AT_A_TIME = 1 << 20
_HEADER_BYTES = 1 << 26

# The marks that a file may begin with; the longer one first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FALLBACKS = ("utf-8", "cp1252", "latin-1")  # the last decodes anything


@dataclass(frozen=True, kw_only=True)
class CsvForm:
    """How a file is written.

    Attributes:
        encoding: Name of the encoding.
        separator: The character between two fields.
        columns: Names in the first line.
        ends_with_separator: Whether every row ends with a separator, after which nothing follows.
    """

    encoding: str
    separator: str
    columns: tuple[str, ...]
    ends_with_separator: bool


def csv_form(path: Path, *, target: str | None = None) -> CsvForm:
    """Find out how a file is written.

    UTF-8 is tried first, then Windows-1252, then Latin-1. The separator is the one that gives the
    most columns, of those for which at least nine tenths of the first rows have as many fields as
    the header. A separator for which the header names the target comes first.

    Args:
        path: A text file.
        target: The name of a column that is expected.
    """
    encoding = _encoding(path)
    sample = _sample(path, encoding)
    rows = {mark: _rows(sample, mark) for mark in _SEPARATORS}
    separator = max(_SEPARATORS, key=lambda mark: _merit(rows[mark], target))
    header, *body = rows[separator] or [[]]
    return CsvForm(
        encoding=encoding,
        separator=separator,
        columns=tuple(header),
        ends_with_separator=bool(body)
        and all(len(row) == len(header) + 1 and not row[-1].strip() for row in body),
    )


def _encoding(path: Path) -> str:
    """The encoding that a mark names, or the first that decodes the whole file."""
    with path.open("rb") as stream:
        start = stream.read(4)
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return encoding
    return next(encoding for encoding in _FALLBACKS if _decodes(path, encoding))


def _decodes(path: Path, encoding: str) -> bool:
    """Whether a file can be decoded; it is never in memory as a whole."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with path.open("rb") as stream:
        try:
            while part := stream.read(_AT_A_TIME):
                decoder.decode(part)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _sample(path: Path, encoding: str) -> str:
    """The first lines; the last of them is dropped if it may be cut."""
    with path.open("rb") as stream:
        content = stream.read(_SAMPLE_BYTES)
        while b"\n" not in content and len(content) < _HEADER_BYTES:  # a very long header
            part = stream.read(_AT_A_TIME)
            content += part
            if not part:
                return content.decode(encoding, errors="replace")
        is_whole = not stream.read(1)
    text = content.decode(encoding, errors="replace")
    return text if is_whole or "\n" not in text else text[: text.rindex("\n")]


def _rows(sample: str, separator: str) -> list[list[str]]:
    """The first rows that are not blank."""

    def rows() -> Iterator[list[str]]:
        lines = csv.reader(StringIO(sample, newline=""), delimiter=separator)
        for row in lines:
            if row:
                yield row
            if lines.line_num > _SAMPLE_ROWS:
                return

    try:
        return list(rows())
    except csv.Error:  # pandas will say what is wrong
        return []


def _merit(rows: list[list[str]], target: str | None) -> tuple[bool, bool, int]:
    """What speaks for a separator, the most important first."""
    if not rows or len(rows[0]) < 2:
        return (False, False, 0)
    header, *body = rows
    fitting = sum(len(header) <= len(row) <= len(header) + 1 for row in body)
    return (target in header, fitting >= 0.9 * len(body), len(header))
