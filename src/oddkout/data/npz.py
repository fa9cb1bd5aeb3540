"""Read NumPy archives of ``x`` and ``y``, or ``x_train``, ``y_train``, ``x_test``, ``y_test``."""

import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped
from numpy import ndarray

from oddkout.reading import reading, refuse_large

# NumPy parses array headers with Python's parser. In Python 3.11, two threads that do so at once
# sometimes get a SystemError.
_ONE_READER = threading.Lock()

_MOST_ARRAYS = 10_000


def read_arrays(
    path: Path, *, repair: str = "create it again with numpy.savez"
) -> dict[str, Shaped[ndarray, "..."]]:
    """Read all arrays of an archive, without unpickling anything.

    Their sizes are checked before they are read, see ``oddkout.reading.memory_limit``.

    Args:
        path: The archive.
        repair: What to do about a damaged one.
    """
    with (
        reading(path, kind="an .npz archive", repair=repair),
        path.open("rb") as stream,  # np.load leaves a damaged file open
        _ONE_READER,
    ):
        archive = np.load(stream, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("it holds one array, not an archive")
        if len(archive.files) > _MOST_ARRAYS:
            raise ValueError(f"it holds more than {_MOST_ARRAYS:,} arrays")
        packed: Any = archive.zip
        refuse_large(path, sum(entry.file_size for entry in packed.infolist()))
        return {name: _array(archive, name) for name in archive.files}


def read_npz(path: Path) -> dict[str, Shaped[ndarray, "..."]]:
    """Read and check an archive of examples and labels."""
    arrays = read_arrays(path)
    for part in ("", "_train", "_test"):
        x, y = arrays.get(f"x{part}"), arrays.get(f"y{part}")
        if (x is None) != (y is None):
            raise ValueError(f"{path} must hold both x{part} and y{part}, got one of them only")
        if x is not None and y is not None:
            _check(path, f"x{part}", x, f"y{part}", y)
    if not ({"x", "x_train"} & arrays.keys()):
        raise ValueError(
            f"{path} must hold x and y, or x_train, y_train, x_test and y_test, got "
            f"{sorted(arrays)}; rename the arrays"
        )
    return arrays


def _array(archive: Any, name: str) -> Shaped[ndarray, "..."]:
    """Read one array, or raise if its header claims more bytes than the file holds."""
    entry = archive.zip.getinfo(name if name in archive.zip.namelist() else f"{name}.npy")
    with archive.zip.open(entry) as file:
        version = np.lib.format.read_magic(file)
        reader = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = reader(file)
        claimed = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if claimed > entry.file_size:
        raise zipfile.BadZipFile(f"{name} claims {claimed} bytes and has {entry.file_size}")
    return np.asarray(archive[name])


def _check(
    path: Path, x_name: str, x: Shaped[ndarray, "..."], y_name: str, y: Shaped[ndarray, "..."]
) -> None:
    """Raise unless ``x`` holds numbers and ``y`` one label per example."""
    if x.dtype.kind not in "fiub" or x.ndim < 2:
        raise ValueError(
            f"{path}: {x_name} must be numbers with a first axis of examples and at least one "
            f"more, got {x.dtype} of shape {x.shape}"
        )
    if y.ndim != 1 or len(y) != len(x):
        raise ValueError(
            f"{path}: {y_name} must hold one label for each of the {len(x)} examples of {x_name}, "
            f"got shape {y.shape}"
        )
