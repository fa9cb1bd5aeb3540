"""Read files of JSON by their schema: limited in size and depth, finite numbers only."""

import json
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from oddkout.reading import reading

# Bytes of a file, and how deeply its lists and objects may be nested.
MOST_BYTES = 1 << 25
MOST_DEPTH = 32

_LARGEST_INTEGER = 2**63

Record = TypeVar("Record")


def read_record(path: Path, schema: type[Record], *, kind: str, repair: str) -> Record:
    """Read a file of JSON, or raise if it does not match its schema.

    Args:
        path: The file.
        schema: A ``msgspec.Struct``, a dataclass, or any type that msgspec can convert to.
        kind: What the file should be, for the error: "a run".
        repair: What to do about a damaged file.
    """
    with reading(path, kind=kind, repair=repair, most_bytes=MOST_BYTES):
        return checked_record(path.read_text(encoding="utf-8"), schema)


def checked_record(text: str, schema: type[Record]) -> Record:
    """Parse JSON by its schema; the error says at which position it does not match.

    Example:
        >>> checked_record('{"seed": 1}', dict)
        {'seed': 1}
        >>> checked_record('{"seed": NaN}', dict)
        Traceback (most recent call last):
        ValueError: numbers must be finite, got NaN
    """
    values = json.loads(text, parse_constant=_refused)
    refuse_extremes(values)
    return matched(values, schema)


def matched(values: Any, schema: type[Record]) -> Record:
    """Plain values as the schema describes them, or raise.

    Example:
        >>> matched({"seed": "x"}, list)
        Traceback (most recent call last):
        ValueError: Expected `array`, got `object`
    """
    try:
        return msgspec.convert(values, schema)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def refuse_extremes(values: Any) -> None:
    """Raise for deep nesting, infinities, integers beyond 64 bits, and text that is none."""
    level, depth = [values], 0
    while level:
        if depth > MOST_DEPTH:
            raise ValueError(f"lists and objects must be nested at most {MOST_DEPTH} deep")
        deeper: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                deeper += value.keys()
                deeper += value.values()
            elif isinstance(value, list):
                deeper += value
            else:
                _refuse_extreme(value)
        level, depth = deeper, depth + 1


def _refuse_extreme(value: Any) -> None:
    """Raise for a number or text that later code cannot handle."""
    if isinstance(value, float) and not abs(value) < float("inf"):
        raise ValueError(f"numbers must be finite, got {value}")
    if isinstance(value, int) and not -_LARGEST_INTEGER <= value < _LARGEST_INTEGER:
        raise ValueError("integers must fit into 64 bits")
    if isinstance(value, str):
        value.encode()  # raises for half of a surrogate pair


def _refused(name: str) -> NoReturn:
    raise ValueError(f"numbers must be finite, got {name}")
