"""Find and load known data sets."""

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
    """Folders that may hold known data sets, in the order of search; ``data_dir`` comes first."""
    from platformdirs import user_cache_path

    candidates = [data_dir, os.environ.get("ODDKOUT_DATA"), user_cache_path("oddkout") / "data"]
    return [Path(folder) for folder in candidates if folder]


def find_known(known: KnownData, data_dir: Path | None = None) -> Path | None:
    """Path of a known data set: its archive, or the folder of its official files; None if absent.

    The folders searched are those of ``data_folders``.
    """
    for root in data_folders(data_dir):
        if (archive := root / f"{known.name}.npz").is_file():
            return archive
        for folder in (root, root / known.folder, root / Path(known.folder).name):
            if known.train and all(_present(folder, file) for file in [*known.train, *known.test]):
                return folder
    return None


def load_known(known: KnownData, data_dir: Path | None = None) -> Data:
    """Load a known data set from ``find_known``, without using the network."""
    if known.name == "digits":
        return _digits(known)
    path = find_known(known, data_dir)
    if path is None:
        searched = ", ".join(map(str, data_folders(data_dir)))
        raise FileNotFoundError(
            f"{known.name} is not on this machine (looked in {searched}); run: oddkout data fetch "
            f"{known.name}, or set ODDKOUT_DATA to the folder that has it"
        )
    if path.suffix == ".npz":
        return _from_archive(known, path)
    read = _read_idx_part if known.is_idx else _read_cifar_part
    x_train, y_train = read(path, known.train)
    x_test, y_test = read(path, known.test)
    return Data(
        name=known.name,
        x_train=x_train,
        y_train=y_train,
        x_test=x_test,
        y_test=y_test,
        classes=known.classes,
    )


def _present(folder: Path, file: str) -> Path | None:
    """Path of the file, plain or gzipped; None if absent."""
    paths: Iterator[Path] = (p for p in (folder / file, folder / f"{file}.gz") if p.is_file())
    return next(paths, None)


def _read_idx_part(folder: Path, files: Mapping[str, str]) -> tuple[Any, Any]:
    arrays = []
    for file, checksum in files.items():
        path = _present(folder, file)
        assert path is not None, "find_known checked"
        arrays.append(read_idx(path, checksum=checksum))
    images, labels = arrays
    return images, labels.astype(np.int64)


def _read_cifar_part(folder: Path, files: Mapping[str, str]) -> tuple[Any, Any]:
    batches = [read_cifar_batch(folder / file, checksum=md5) for file, md5 in files.items()]
    images, labels = zip(*batches, strict=True)
    return np.concatenate(images), np.concatenate(labels)


def _from_archive(known: KnownData, archive: Path) -> Data:
    """Load a known data set from its ``.npz``; an incomplete one is noted in ``Data.notes``."""
    arrays = read_npz(archive)
    if missing := {"x_train", "y_train", "x_test", "y_test"} - arrays.keys():
        raise ValueError(f"{archive} must hold {sorted(missing)} too; fetch {known.name} again")
    for part in ("y_train", "y_test"):
        labels = arrays[part]
        if labels.dtype.kind not in "iu" or not np.isin(labels, range(len(known.classes))).all():
            raise ValueError(
                f"{archive}: {part} must hold the classes 0 .. {len(known.classes) - 1} of "
                f"{known.name}; this is another data set"
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
    """scikit-learn's 8 x 8 digits in bytes, with a quarter of each class for testing."""
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
