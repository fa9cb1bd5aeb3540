"""Any source of data, by name or by path, as checked arrays with class names."""

from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from oddkout.checks import Number, few
from oddkout.data.arrays import Data, encoded_labels
from oddkout.data.catalogue import KNOWN
from oddkout.data.images import ImageFiles, read_image_folder
from oddkout.data.known import load_known
from oddkout.data.npz import read_npz
from oddkout.data.splits import split
from oddkout.data.table import TableEncoder, read_table


def load_data(
    source: str | Path,
    *,
    target: str | None = None,
    test: str | Path | None = None,
    test_size: Number = 0.2,
    image_size: int | None = None,
    categorical: Collection[str] = (),
    data_dir: str | Path | None = None,
    seed: int = 0,
) -> Data:
    """Load a data set, split into training and test part.

    Args:
        source: A known name (``digits``, ``mnist``, ``fashion_mnist``, ``cifar10``, ``cifar100``)
            or a path: ``.npz``, ``.csv``, ``.parquet``, or a folder of images per class.
        target: For tables, the column that holds the class.
        test: A separate test file or folder of the same kind.
        test_size: Without one, the share of every class that is kept for the test.
        image_size: For folders, height and width to scale every image to.
        categorical: For tables, columns of numbers to take as categories.
        data_dir: Where to look for a known data set first.
        seed: Key of the split.

    Example:
        >>> data = load_data("digits")
        >>> data.x_train.shape, len(data.classes)
        ((1347, 8, 8), 10)
    """
    path = Path(source)
    if str(source) in KNOWN:
        if test is not None:
            raise ValueError(
                f"{source} has its own test part, got test={str(test)!r}; leave it out"
            )
        return load_known(KNOWN[str(source)], None if data_dir is None else Path(data_dir))
    if path.suffix == ".npz" and path.is_file():
        return _load_npz(path, test, test_size, seed)
    if path.suffix in (".csv", ".parquet") and path.is_file():
        return _load_table(path, test, test_size, seed, target, categorical)
    if path.is_dir():
        return _load_images(path, test, test_size, seed, image_size)
    if path.is_file():
        raise ValueError(
            f"data must be .npz, .csv, .parquet or a folder of images per class, got {source}; "
            "convert it to one of these"
        )
    close = get_close_matches(str(source), KNOWN, n=1)
    raise FileNotFoundError(
        f"there is no file {source} and no data set of that name; "
        + (f"did you mean {close[0]}?" if close else f"known are {', '.join(KNOWN)}")
    )


def _load_npz(path: Path, test: str | Path | None, test_size: Number, seed: int) -> Data:
    arrays = read_npz(path)
    suffix = "_train" if "x_train" in arrays else ""
    x, (y, classes) = arrays[f"x{suffix}"], encoded_labels(arrays[f"y{suffix}"], name=f"{path}: y")
    notes: tuple[str, ...] = ()
    if test is not None or "x_test" in arrays:
        held = arrays if test is None else read_npz(Path(test))
        part = "_test" if "x_test" in held else ""
        x_test, y_test = held[f"x{part}"], held[f"y{part}"]
        if x_test.shape[1:] != x.shape[1:]:
            raise ValueError(
                f"test examples must have the shape of training ones, {x.shape[1:]}, got "
                f"{x_test.shape[1:]}"
            )
        y_test, _ = encoded_labels(y_test, classes, name=f"{test or path}: y_test")
    else:
        first, second, notes = _split(y, classes, test_size, seed)
        x, x_test, y, y_test = x[first], x[second], y[first], y[second]
    return Data(
        name=path.stem,
        x_train=x,
        y_train=y,
        x_test=x_test,
        y_test=y_test,
        classes=classes,
        notes=notes,
    )


def _load_table(
    path: Path,
    test: str | Path | None,
    test_size: Number,
    seed: int,
    target: str | None,
    categorical: Collection[str],
) -> Data:
    frame, labels = read_table(path, target=target)
    y, classes = encoded_labels(labels, name=f"{target!r} of {path}")
    notes: tuple[str, ...] = ()
    if test is None:
        first, second, notes = _split(y, classes, test_size, seed)
        test_frame, y_test, frame, y = frame.iloc[second], y[second], frame.iloc[first], y[first]
    else:
        test_frame, labels = read_table(Path(test), target=target)
        y_test, _ = encoded_labels(labels, classes, name=f"{target!r} of {test}")
    encoder = TableEncoder(frame, categorical=categorical)
    if encoder.missing:
        cells = sum(encoder.missing.values())
        notes += (f"{cells} missing cells were imputed, in columns {few(list(encoder.missing))}",)
    if extra := [name for name in test_frame.columns if name not in encoder.columns]:
        notes += (f"columns {few(extra)} of the test file are not in the training file: ignored",)
    return Data(
        name=path.stem,
        x_train=encoder.encode(frame),
        y_train=y,
        x_test=encoder.encode(test_frame),
        y_test=y_test,
        classes=classes,
        notes=notes,
        encoder=encoder,
    )


def _load_images(
    folder: Path, test: str | Path | None, test_size: Number, seed: int, image_size: int | None
) -> Data:
    images, labels = read_image_folder(folder, image_size=image_size)
    y, classes = encoded_labels(labels, name=f"the folders of {folder}")
    notes: tuple[str, ...] = ()
    if test is None:
        first, second, notes = _split(y, classes, test_size, seed)
        test_images, y_test = _chosen(images, second), y[second]
        images, y = _chosen(images, first), y[first]
    else:
        test_images, labels = read_image_folder(Path(test), image_size=image_size)
        y_test, _ = encoded_labels(labels, classes, name=f"the folders of {test}")
    return Data(
        name=folder.name,
        x_train=images,
        y_train=y,
        x_test=test_images,
        y_test=y_test,
        classes=classes,
        notes=notes,
    )


def _chosen(images: Any, index: Any) -> Any:
    """Some of the images, without decoding those that are still files."""
    return images.subset(index) if isinstance(images, ImageFiles) else images[index]


def _split(
    y: Any, classes: tuple[str, ...], test_size: Number, seed: int
) -> tuple[Any, Any, tuple[str, ...]]:
    """A stratified split, with a note on classes that cannot be in both parts."""
    first, second = split(y, fraction=test_size, seed=seed)
    if len(second) == 0:
        raise ValueError(
            f"a part of the data is kept for the test, but none of the classes {few(classes)} has "
            "2 examples; give more examples, or a test file with --test"
        )
    lonely = [classes[c] for c in np.flatnonzero(np.bincount(y, minlength=len(classes)) == 1)]
    notes = (f"classes {few(lonely)} occur once: kept for training, so they cannot be tested",)
    return first, second, notes if lonely else ()
