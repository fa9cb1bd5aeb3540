"""Store data in memory as files, so that every process of a comparison can read them."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from oddkout.comparing.fingerprint import fingerprint
from oddkout.data import Data
from oddkout.data.arrays import plain_labels
from oddkout.data.sources import DataSource, dense, is_frame
from oddkout.data.table import dense_frame

_LABELS, _GROUPS = "(label)", "(group)"


def stored_source(
    source: DataSource, folder: Path, reading: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Path or name of a source, and the arguments of ``load_data`` to read it with.

    Arrays and frames are written to the folder, each file named after a hash of its content.

    Args:
        source: Anything that ``load_data`` takes.
        folder: Folder for data that are in memory.
        reading: Arguments of ``load_data``.
    """
    options = dict(reading)
    target, groups = options.get("target"), options.pop("groups", None)
    if groups is not None:
        source, options = _with_groups(source, groups, options)
    path, stored_target = _stored(source, folder, target)
    if options.get("test") is not None:
        options["test"], _ = _stored(options["test"], folder, target)
    if stored_target is not None:
        options["target"] = stored_target
    return path, options


def _with_groups(
    source: DataSource, groups: Any, options: dict[str, Any]
) -> tuple[DataSource, dict[str, Any]]:
    """The source with its groups, as a further column or array."""
    if not (isinstance(source, tuple | list) and len(source) == 2):
        raise ValueError(
            "groups= are for a pair (examples, labels); for a table, name the column with group="
        )
    x, y = source
    names = plain_labels(groups, name="groups")
    if len(names) != len(y):
        raise ValueError(
            f"groups must name the group of each of the {len(y)} examples, got {len(names)}"
        )
    if is_frame(x):
        return (x.assign(**{_GROUPS: names}), y), options | {"group": _GROUPS}
    return _Grouped(x, y, names), options


@dataclass(frozen=True)
class _Grouped:
    """Arrays with the group of each example."""

    x: Any
    y: Any
    groups: Any


def _stored(source: DataSource, folder: Path, target: str | None) -> tuple[str, str | None]:
    """Path of a source, and for tables the column of the labels."""
    if isinstance(source, str | Path):
        return str(source), target
    if isinstance(source, _Grouped):
        arrays = {"x": dense(source.x), "y": plain_labels(source.y, name="the labels")}
        write = partial(_save_arrays, arrays | {"groups": source.groups})
        return _written(folder, ".npz", write), None
    if isinstance(source, Data):
        return _written(folder, ".npz", lambda path: _save_data(source, path)), None
    if isinstance(source, tuple | list) and len(source) == 2:
        x, y = source
        if not is_frame(x):
            labels = plain_labels(y, name="the labels")
            return _written(folder, ".npz", lambda path: np.savez(path, x=dense(x), y=labels)), None
        frame, target = x.assign(**{_LABELS: plain_labels(y, name="the labels")}), _LABELS
    elif is_frame(source):
        frame = source
    else:
        raise ValueError(
            "data must be a name, a path, a pandas frame, a pair (examples, labels), or loaded "
            f"data, got {type(source).__name__}"
        )
    return _written(folder, ".parquet", lambda path: _save_frame(frame, path)), target


def _written(folder: Path, suffix: str, write: Callable[[Path], object]) -> str:
    """Write a file under a temporary name, then rename it after the hash of its content."""
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".data.{os.getpid()}.tmp{suffix}"
    try:
        write(temporary)
        path = folder / f"data-{fingerprint(temporary)}{suffix}"
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return str(path)


def _save_arrays(arrays: dict[str, Any], path: Path) -> None:
    """Save arrays by name."""
    np.savez(path, **arrays)


def _save_data(data: Data, path: Path) -> None:
    """Save both parts of loaded data, and the names of all classes, even those without examples."""
    arrays = {
        "x_train": np.asarray(data.x_train[:]),
        "y_train": data.y_train,
        "x_test": np.asarray(data.x_test[:]),
        "y_test": data.y_test,
        "class_names": np.array(data.classes),
        "is_encoded": np.array(data.is_encoded),
        "groups_train": data.train_groups,
        "groups_test": data.test_groups,
    }
    _save_arrays({name: array for name, array in arrays.items() if array is not None}, path)


def _save_frame(frame: Any, path: Path) -> None:
    """Save a frame with the types of its columns."""
    try:
        dense_frame(frame).to_parquet(path, index=False)
    except ImportError as missing:
        raise ValueError(
            f"comparing on a frame needs {missing.name}; run: pip install 'oddkout[data]'"
        ) from None
    except Exception as error:  # pyarrow raises many kinds
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(
            f"the frame cannot be stored as a table ({reason}); give every column one type"
        ) from None
