"""NumPy archives: ``x`` and ``y``, or ``x_train``, ``y_train``, ``x_test``, ``y_test``."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped
from numpy import ndarray


def read_arrays(path: Path) -> dict[str, Shaped[ndarray, "..."]]:
    """Read all arrays of an archive; nothing in it is unpickled.

    Args:
        path: The archive.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("it holds one array, not an archive")
            return {name: _array(archive, name) for name in archive.files}
    except (OSError, MemoryError):
        if not path.exists():
            raise
        raise ValueError(f"{path} cannot be read as an .npz archive; make it anew") from None
    # Damaged archives end in exceptions of many kinds: zipfile's, zlib's, the tokenizer's.
    except Exception as error:
        raise ValueError(
            f"{path} cannot be read as an .npz archive ({error}); make it anew with numpy.savez"
        ) from None


def read_npz(path: Path) -> dict[str, Shaped[ndarray, "..."]]:
    """Read an archive of examples and labels.

    Args:
        path: The archive.
    """
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
            f"{sorted(arrays)}; name the arrays so"
        )
    return arrays


def _array(archive: Any, name: str) -> Shaped[ndarray, "..."]:
    """One array, after a look at what its header claims: no more than the file could hold."""
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
    """Raise unless the arrays are numbers with one label each."""
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
