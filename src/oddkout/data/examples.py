"""Read examples without labels, for a trained classifier."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from oddkout.checks import suggestion
from oddkout.data.catalogue import KNOWN
from oddkout.data.images import SUFFIXES, ImageFiles
from oddkout.data.known import load_known
from oddkout.data.npz import read_arrays
from oddkout.data.table_files import TABLE_SUFFIXES, is_table, read_frame


def read_examples(source: str | Path, *, like: tuple[int, ...]) -> Any:
    """Read examples: a table as a pandas frame, the array ``x`` of an archive, or images.

    Args:
        source: The name of a known data set, whose test part is read; a table, an ``.npz`` or
            image file; or a folder with images, also in subfolders, which are read in
            the order of their names.
        like: Shape of an example of the classifier. Images are scaled to it.
    """
    if str(source) in KNOWN:
        return np.asarray(load_known(KNOWN[str(source)], None).x_test[:])
    path = Path(source)
    if is_table(path):
        return read_frame(path)
    if path.suffix == ".npz" and path.is_file():
        arrays = read_arrays(path)
        for name in ("x", "x_test"):
            if name in arrays:
                return arrays[name]
        raise ValueError(f"{path} must hold an array x, got {sorted(arrays)}; rename the array")
    if not path.exists():
        raise FileNotFoundError(
            f"there is no file or folder {path}, and no data set of that name; check the path"
        )
    candidates = [path] if path.is_file() else sorted(path.rglob("*"))
    files = [file for file in candidates if file.suffix.lower() in SUFFIXES]
    if not files or len(like) != 3:
        raise ValueError(
            f"examples must be a {', '.join(TABLE_SUFFIXES)} or .npz file, or images for a "
            f"classifier of images, got {path}; this classifier takes examples of shape {like}"
        )
    channels, height, width = like
    return ImageFiles(files, size=(height, width), is_grey=channels == 1)[:]


def read_columns(source: str | Path, names: Sequence[str]) -> dict[str, list[str]]:
    """Columns of a table as text, as the file holds them; a missing cell is an empty text.

    Args:
        source: A table.
        names: The columns to read.
    """
    path = Path(source)
    columns = {}
    for name in names:
        # The column that ``read_frame`` reads as text keeps zeros before an identifier.
        frame = read_frame(path, name)
        known = [str(column) for column in frame.columns]
        if name not in known:
            raise ValueError(
                f"{path.name} must hold the column {name!r}, but it does not; "
                f"{suggestion(name, known)}"
            )
        column = frame.iloc[:, known.index(name)]
        columns[name] = [
            "" if gap else str(cell) for cell, gap in zip(column, column.isna(), strict=True)
        ]
    return columns
