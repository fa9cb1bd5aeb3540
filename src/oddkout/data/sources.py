"""Read sources of data, before they are split: files, folders, frames and arrays."""

from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from oddkout.data.catalogue import KNOWN
from oddkout.data.images import read_image_folder
from oddkout.data.npz import read_npz
from oddkout.data.table import dense_frame, features_and_labels
from oddkout.data.table_files import TABLE_SUFFIXES, is_table, read_table

# A known name, a path, a pandas frame, a pair (examples, labels), or loaded data.
DataSource: TypeAlias = Any

_MOST_CELLS = 300_000_000  # of a sparse matrix: 2.4 GB in double precision


@dataclass(frozen=True, kw_only=True)
class SourcePart:
    """Examples and labels of one source.

    Attributes:
        name: Name of the data in reports.
        x: The examples: an array, images, or a pandas frame.
        labels: Their labels, unchanged.
        called: Name of the labels in error messages.
        test: The test part of the same source, if it has one.
        classes: Names of the classes, if the labels are positions among them.
        is_encoded: Whether features are already standardised.
        groups: Group of each example, such as the patient.
        notes: What was guessed when the source was read, a sentence each.
    """

    name: str
    x: Any
    labels: Any
    called: str
    test: "SourcePart | None" = None
    classes: tuple[str, ...] | None = None
    is_encoded: bool = False
    groups: Any = None
    notes: tuple[str, ...] = ()


def read_source(
    source: DataSource, target: str | None, image_size: int | None, *, is_test: bool = False
) -> SourcePart:
    """Read a source other than a known data set.

    Args:
        source: A path, a pandas frame, or a pair (examples, labels).
        target: For tables, the column that holds the class.
        image_size: For folders, height and width to scale each image to.
        is_test: Whether to read the test part of an archive that has two parts.
    """
    if isinstance(source, tuple | list) and len(source) == 2:
        return _pair(*source)
    if is_frame(source):
        frame, labels = features_and_labels(source, target=target, source="the table")
        return SourcePart(name="table", x=frame, labels=labels, called=f"{target!r} of the table")
    if not isinstance(source, str | Path):
        raise ValueError(
            "data must be a name, a path, a pandas frame, a pair (examples, labels), or loaded "
            f"data, got {type(source).__name__}"
        )
    path = Path(source)
    if path.suffix == ".npz" and path.is_file():
        return _archive(path, is_test=is_test)
    if is_table(path) and path.is_file():
        table, notes = read_table(path, target)
        frame, labels = features_and_labels(table, target=target, source=path)
        called = f"{target!r} of {path}"
        return SourcePart(name=path.stem, x=frame, labels=labels, called=called, notes=notes)
    if path.is_dir():
        images, labels = read_image_folder(path, image_size=image_size)
        return SourcePart(name=path.name, x=images, labels=labels, called=f"the folders of {path}")
    if path.is_file():
        raise ValueError(
            f"data must be a {', '.join(TABLE_SUFFIXES)} or .npz file, or a folder with one "
            f"subfolder of images per class, got {source}; convert it to one of these"
        )
    close = get_close_matches(str(source), KNOWN, n=1)
    raise FileNotFoundError(
        f"there is no file {source} and no data set of that name; "
        + (f"did you mean {close[0]}?" if close else f"known data sets are {', '.join(KNOWN)}")
    )


def _pair(x: Any, labels: Any) -> SourcePart:
    """Examples and labels in memory."""
    if is_frame(x):
        x, name = dense_frame(x), "table"
    else:
        x, name = dense(x), "arrays"
        if x.dtype.kind not in "fiub" or x.ndim < 2:
            raise ValueError(
                "examples must be an array of numbers with at least 2 axes, the first of examples, "
                f"got {x.dtype} of shape {x.shape}"
            )
    if len(x) != len(labels):
        raise ValueError(
            f"there must be one label for each example, got {len(x)} examples and {len(labels)} "
            "labels"
        )
    return SourcePart(name=name, x=x, labels=labels, called="the labels")


def _archive(path: Path, *, is_test: bool) -> SourcePart:
    """Examples and labels of an archive; those of its test part if ``is_test``."""
    arrays = read_npz(path)
    # ``compare`` writes these names for data in memory; the labels are then positions.
    names = arrays.get("class_names")

    def part(suffix: str, label: str) -> SourcePart:
        return SourcePart(
            name=path.stem,
            x=arrays[f"x{suffix}"],
            labels=arrays[f"y{suffix}"],
            called=f"{path}: {label}",
            classes=None if names is None else tuple(map(str, names.tolist())),
            is_encoded=bool(arrays.get("is_encoded", False)),
            groups=arrays.get(f"groups{suffix}"),
        )

    if is_test:
        return part("_test" if "x_test" in arrays else "", "y_test")
    whole = part("_train" if "x_train" in arrays else "", "y")
    if "x_test" not in arrays:
        return whole
    return replace(whole, test=part("_test", "y_test"))


def dense(x: Any) -> Any:
    """Examples as an array; a sparse matrix of SciPy is written out, or refused if it is too large.

    Example:
        >>> from scipy.sparse import csr_matrix
        >>> dense(csr_matrix([[0, 2], [0, 0]])).tolist()
        [[0, 2], [0, 0]]
    """
    if not (hasattr(x, "toarray") and hasattr(x, "nnz")):
        return np.asarray(x)
    if np.prod(x.shape, dtype=float) > _MOST_CELLS:
        raise ValueError(
            f"a sparse matrix is written out here and may have up to {_MOST_CELLS:,} cells, got "
            f"{x.shape[0]:,} x {x.shape[1]:,}; select or project its columns first, e.g. with "
            "TruncatedSVD"
        )
    return x.toarray()


def is_frame(x: Any) -> bool:
    """Whether this is a pandas frame, without importing pandas."""
    return hasattr(x, "columns") and hasattr(x, "iloc")
