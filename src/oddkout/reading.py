"""Read files that may be damaged or hostile: one guard for all of them, and one kind of error."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Gigabytes that the content of one file may take in memory, and the variable that changes it.
DEFAULT_GIGABYTES = 4.0
VARIABLE = "ODDKOUT_MAX_MEMORY"

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


class FileError(ValueError):
    """A sentence on a file that cannot be used: what it must be, what it is, what to do."""


@contextmanager
def reading(
    path: Path, *, kind: str, repair: str = "check the file", most_bytes: int | None = None
) -> Iterator[None]:
    """Guard everything that reads one file and checks what it holds.

    The file must be a regular one, or a link to one, and not too large. Whatever goes wrong inside
    becomes a ``FileError`` that names the file. A ``FileError`` from inside is left as it is.

    Args:
        path: The file.
        kind: What the file should be, for the error: "a table".
        repair: What to do about a damaged file.
        most_bytes: Largest size of the file; by default ``memory_limit()``.

    Example:
        >>> with reading(Path("/dev/zero"), kind="a table"):
        ...     pass
        Traceback (most recent call last):
        oddkout.reading.FileError: /dev/zero must be a regular file, but it is a device; ...
    """
    try:
        size = regular_size(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}; {repair}") from None
    if most_bytes is None:
        refuse_large(path, size)
    elif size > most_bytes:
        raise FileError(
            f"{path} cannot be read as {kind}: it must have at most {most_bytes:,} bytes, got "
            f"{size:,}; {repair}"
        )
    try:
        yield
    except FileError:
        raise
    except ImportError as missing:
        raise FileError(
            f"reading {path} needs {missing.name}; run: pip install 'oddkout[data]'"
        ) from None
    # Damaged files raise every kind of exception: from parsers, codecs, zlib and the memory.
    except Exception as error:
        raise FileError(
            f"{path} cannot be read as {kind} ({first_line(error)}); {repair}"
        ) from None


def regular_size(path: Path) -> int:
    """Size of a regular file in bytes; raise for anything else, which might never end."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}; check the path") from None
    except (OSError, ValueError) as error:  # a name that is too long, holds a null, or is a loop
        raise FileError(f"{path} cannot be opened ({first_line(error)}); check the path") from None
    if not stat.S_ISREG(found.st_mode):
        what = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
        raise FileError(f"{path} must be a regular file, but it is {what}; check the path")
    return found.st_size


def memory_limit() -> int:
    """Number of bytes that the content of one file may take in memory.

    4 GB; the environment variable ``ODDKOUT_MAX_MEMORY`` sets another number of gigabytes.
    """
    text = os.environ.get(VARIABLE, "")
    try:
        gigabytes = float(text) if text else DEFAULT_GIGABYTES
        if not 0 < gigabytes < 1e6:
            raise ValueError
    except ValueError:
        raise ValueError(
            f"{VARIABLE} (--max-memory) must be a number of gigabytes above 0, got {text!r}"
        ) from None
    return int(gigabytes * 1e9)


def refuse_large(path: Path, size: int) -> None:
    """Raise if the content of a file takes more memory than ``memory_limit``.

    Args:
        path: The file.
        size: Number of bytes that its content takes once it is unpacked, by its header.
    """
    limit = memory_limit()
    if size > limit:
        raise FileError(
            f"{path} must take at most {limit / 1e9:g} GB of memory, got {_gigabytes(size)} GB; "
            f"select fewer rows or columns, or raise the limit: oddkout --max-memory "
            f"{_gigabytes(size)} ..., or {VARIABLE}={_gigabytes(size)}"
        )


def first_line(error: BaseException) -> str:
    """The first line of an error, at most 200 characters; its type if it says nothing."""
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    return text if len(text) <= 200 else f"{text[:200]}..."


def _gigabytes(size: int) -> str:
    """A number of gigabytes that is not too small: 4.2 for 4,123,456,789."""
    return f"{-(-size // 100_000_000) / 10:g}"
