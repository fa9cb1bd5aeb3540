"""Read MNIST's IDX format: a magic number, the sizes of the axes, then the data."""

import gzip
import math
import struct
from collections.abc import Iterator
from hashlib import md5
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import UInt8
from numpy import ndarray

from oddkout.reading import FileError, reading, refuse_large

_UNSIGNED_BYTES = 8
_MOST_AXES = 8


@runtime_checkable
class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def read_idx(path: Path, *, checksum: str | None = None) -> UInt8[ndarray, "..."]:
    """Read an IDX file of unsigned bytes, plain or gzipped.

    Args:
        path: The file; gzipped if its name ends in ``.gz``.
        checksum: MD5 of the uncompressed content, if it is known.
    """
    with (
        reading(path, kind="an IDX file", repair="fetch it again"),
        gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file,
    ):
        header, shape = _header(path, file)
        size = math.prod(shape)
        refuse_large(path, size)
        content = b"".join(_chunks(file, size + 1))  # one more, to notice a file that is longer
    if len(content) != size:
        more = "more" if len(content) > size else f"{len(content):,}"
        raise ValueError(
            f"{path} announces {size:,} bytes of data, axes {shape}, but holds {more}; it is "
            "truncated or damaged, fetch it again"
        )
    if (
        checksum is not None
        and md5(header + content, usedforsecurity=False).hexdigest() != checksum
    ):
        raise ValueError(
            f"{path} is not the published file: its MD5 is not {checksum}; delete it and fetch it "
            "again"
        )
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)


def _header(path: Path, file: _Readable) -> tuple[bytes, tuple[int, ...]]:
    """Read the magic number and the sizes of the axes."""
    magic = file.read(4)
    is_idx = len(magic) == 4 and magic[:2] == b"\0\0" and magic[2] == _UNSIGNED_BYTES
    if not is_idx or not 1 <= magic[3] <= _MOST_AXES:
        raise FileError(
            f"{path} is not an IDX file of bytes: it must begin with 00 00 08 and the number of "
            f"axes, got {magic.hex(' ') or 'nothing'}; check that it is the right file"
        )
    sizes = file.read(4 * magic[3])
    if len(sizes) < 4 * magic[3]:
        raise FileError(f"{path} ends within its header; it is truncated, fetch it again")
    return magic + sizes, struct.unpack(f">{magic[3]}I", sizes)


def _chunks(file: _Readable, size: int) -> Iterator[bytes]:
    """Yield up to ``size`` bytes in pieces, so that a wrong header cannot allocate all memory."""
    while size > 0 and (chunk := file.read(min(size, 1 << 20))):
        yield chunk
        size -= len(chunk)
