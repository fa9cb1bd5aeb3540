"""Known data sets: where they are looked up, and in which forms."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from oddkout.data.arrays import Data
from oddkout.data.catalogue import KnownData
from oddkout.data.cifar import read_cifar_batch
from oddkout.data.idx import read_idx
from oddkout.data.npz import read_npz
from oddkout.data.splits import split


def data_folders(data_dir: Path | None = None) -> list[Path]:
    """Where known data sets are looked up, in order.

    Args:
        data_dir: A folder to look in first.
    """
    from platformdirs import user_cache_path

    named = [data_dir, os.environ.get("ODDKOUT_DATA"), user_cache_path("oddkout") / "data"]
    return [Path(folder) for folder in named if folder]


def find_known(known: KnownData, data_dir: Path | None = None) -> Path | None:
    """The archive, or the folder of official files, of a known data set; None if there is none.

    Args:
        known: The data set.
        data_dir: A folder to look in first.
    """
    for folder in data_folders(data_dir):
        if (archive := folder / f"{known.name}.npz").is_file():
            return archive
        for place in (folder, folder / known.folder, folder / Path(known.folder).name):
            if known.train and all(_present(place, file) for file in [*known.train, *known.test]):
                return place
    return None


def load_known(known: KnownData, data_dir: Path | None = None) -> Data:
    """Load a known data set from where it is found; the network is never touched.

    Args:
        known: The data set.
        data_dir: A folder to look in first.
    """
    if known.name == "digits":
        return _digits(known)
    place = find_known(known, data_dir)
    if place is None:
        looked = ", ".join(map(str, data_folders(data_dir)))
        raise FileNotFoundError(
            f"{known.name} is not on this machine (looked in {looked}); run: oddkout data fetch "
            f"{known.name}, or set ODDKOUT_DATA to the folder that has it"
        )
    if place.suffix == ".npz":
        return _from_archive(known, place)
    read = _read_idx_part if known.is_idx else _read_cifar_part
    x_train, y_train = read(place, known.train)
    x_test, y_test = read(place, known.test)
    return Data(
        name=known.name,
        x_train=x_train,
        y_train=y_train,
        x_test=x_test,
        y_test=y_test,
        classes=known.classes,
    )


def _present(place: Path, file: str) -> Path | None:
    """The file, plain or gzipped, if it is there."""
    found: Iterator[Path] = (p for p in (place / file, place / f"{file}.gz") if p.is_file())
    return next(found, None)


def _read_idx_part(place: Path, files: Mapping[str, str]) -> tuple[Any, Any]:
    arrays = []
    for file, checksum in files.items():
        path = _present(place, file)
        assert path is not None, "find_known looked"
        arrays.append(read_idx(path, checksum=checksum))
    images, labels = arrays
    return images, labels.astype(np.int64)


def _read_cifar_part(place: Path, files: Mapping[str, str]) -> tuple[Any, Any]:
    batches = [read_cifar_batch(place / file, checksum=md5) for file, md5 in files.items()]
    images, labels = zip(*batches, strict=True)
    return np.concatenate(images), np.concatenate(labels)


def _from_archive(known: KnownData, archive: Path) -> Data:
    """The data set from its ``.npz``; a partial one is used as it is and says so."""
    arrays = read_npz(archive)
    if missing := {"x_train", "y_train", "x_test", "y_test"} - arrays.keys():
        raise ValueError(f"{archive} must hold {sorted(missing)} too; fetch {known.name} again")
    for part in ("y_train", "y_test"):
        labels = arrays[part]
        if labels.dtype.kind not in "iu" or not np.isin(labels, range(len(known.classes))).all():
            raise ValueError(
                f"{archive}: {part} must hold the classes 0 .. {len(known.classes) - 1} of "
                f"{known.name}; it is another data set"
            )
    notes: tuple[str, ...] = ()
    if "train_index" in arrays:
        notes = (
            f"{archive.name} is a part of {known.name}: {len(arrays['x_train']):,} training "
            "examples",
        )
    return Data(
        name=known.name,
        x_train=arrays["x_train"],
        y_train=arrays["y_train"].astype(np.int64),
        x_test=arrays["x_test"],
        y_test=arrays["y_test"].astype(np.int64),
        classes=known.classes,
        notes=notes,
    )


def _digits(known: KnownData) -> Data:
    """scikit-learn's 8 x 8 digits, scaled to bytes, a quarter of each class for the test."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    images = np.round(x * (255 / 16)).astype(np.uint8).reshape(-1, 8, 8)
    train, test = split(y, fraction=0.25)
    return Data(
        name=known.name,
        x_train=images[train],
        y_train=y[train].astype(np.int64),
        x_test=images[test],
        y_test=y[test].astype(np.int64),
        classes=known.classes,
    )
