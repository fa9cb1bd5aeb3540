"""Examples without labels, as a trained classifier takes them."""

from pathlib import Path
from typing import Any

import numpy as np

from oddkout.data.catalogue import KNOWN
from oddkout.data.images import SUFFIXES, ImageFiles
from oddkout.data.known import load_known
from oddkout.data.npz import read_arrays
from oddkout.data.table import read_frame


def read_examples(source: str | Path, *, like: tuple[int, ...]) -> Any:
    """Read examples: a pandas frame of a table, the ``x`` of an archive, or a folder's images.

    Args:
        source: The name of a known data set, of which the test part is read; ``.csv``,
            ``.parquet``, ``.npz``, an image, or a folder that holds images, directly or in folders;
            images are taken in the order of their names.
        like: Shape of an example of the classifier: images are scaled to it.
    """
    if str(source) in KNOWN:
        return np.asarray(load_known(KNOWN[str(source)], None).x_test[:])
    path = Path(source)
    if path.suffix in (".csv", ".parquet"):
        return read_frame(path)
    if path.suffix == ".npz" and path.is_file():
        arrays = read_arrays(path)
        for name in ("x", "x_test"):
            if name in arrays:
                return arrays[name]
        raise ValueError(f"{path} must hold x, got {sorted(arrays)}; name the array so")
    if not path.exists():
        raise FileNotFoundError(
            f"there is no file or folder {path}, nor a data set of that name; check the path"
        )
    found = [path] if path.is_file() else sorted(path.rglob("*"))
    files = [file for file in found if file.suffix.lower() in SUFFIXES]
    if not files or len(like) != 3:
        raise ValueError(
            f"examples must be .csv, .parquet, .npz or images for a classifier of images, got "
            f"{path}; the classifier takes examples of shape {like}"
        )
    channels, height, width = like
    return ImageFiles(files, size=(height, width), is_grey=channels == 1)[:]
