"""Read predictions from CSV and npz files."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oddkout.checks import few, suggestion
from oddkout.data.cells import plain_cell
from oddkout.data.examples import read_columns
from oddkout.data.npz import read_arrays
from oddkout.data.text_rows import read_text_rows

# Column of the predicted class in the output of ``oddkout predict --keep``: columns before it are
# copied from the data, columns after it are probabilities.
PREDICTED = "predicted"


@dataclass(frozen=True)
class PredictionFile:
    """The contents of a file of predictions, as arguments of ``evaluate``."""

    given: dict[str, Any]
    labels: np.ndarray
    classes: list[str] | None
    groups: Sequence[Any] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LabelColumns:
    """Where the labels and groups of a CSV file of predictions are.

    Args:
        target: Column of the labels.
        labels: A second table that holds the labels; by default they are in the file itself.
        id: Column of the identifier that matches the rows of both files.
        group: Column of the groups, in either file.
    """

    target: str = "label"
    labels: Path | None = None
    id: str | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        if (self.labels is None) != (self.id is None):
            raise ValueError(
                "a second file of labels (--labels) and the column of the identifier that both "
                "files share (--id) must be given together"
            )


def read_predictions(
    path: Path, *, are_logits: bool = False, columns: LabelColumns | None = None
) -> PredictionFile:
    """Read predictions and labels.

    A CSV file has a header, a column ``label``, and one column per class, named after the class.
    Labels are class names, or else positions from 0. The output of ``oddkout predict --keep`` is
    such a file: columns before ``predicted`` are no classes. An npz file holds ``probs`` or
    ``logits``, ``labels`` (names or positions) and, if the classes have names, ``classes``.

    Args:
        path: The CSV or npz file.
        are_logits: Whether the columns of a CSV file are logits rather than probabilities.
        columns: Where labels and groups are. In an npz file, a group is the name of an array.
    """
    columns = LabelColumns() if columns is None else columns
    if path.suffix == ".npz":
        return _read_npz(path, are_logits, columns)
    if path.suffix == ".csv":
        return _read_csv(path, are_logits, columns)
    raise ValueError(f"predictions must be in a .csv or .npz file, got {path.name}")


def _read_csv(path: Path, are_logits: bool, columns: LabelColumns) -> PredictionFile:
    table = _table(path, columns)
    header = list(table)
    first = header.index(PREDICTED) + 1 if PREDICTED in table else 0
    others = {columns.target, columns.id, columns.group}
    classes = [name for name in header[first:] if name not in others]
    try:
        values = np.array([table[name] for name in classes], dtype=float).T
    except ValueError as error:
        raise ValueError(
            f"{path.name}: all columns but {columns.target!r} must be numbers, one column per "
            f"class, but one is not ({error}); drop other columns"
        ) from None
    notes: tuple[str, ...] = ()
    if columns.labels is None:
        names, groups = table[columns.target], table.get(columns.group or "")
    else:
        names, groups, notes = _matched(path, table, columns)
    if empty := [row for row, name in enumerate(names) if not name.strip()]:
        raise ValueError(
            f"every prediction must have a label, but {columns.target!r} is empty for examples "
            f"{few(empty)}; label or drop them"
        )
    labels = _positions(path, [name.strip() for name in names], classes)
    given = {"logits" if are_logits else "probs": values}
    known = None if groups is None else [group.strip() or None for group in groups]
    return PredictionFile(given, labels, classes, known, notes)


def _table(path: Path, columns: LabelColumns) -> dict[str, list[str]]:
    """The columns of a CSV file as text, or raise if it is no table or lacks a column."""
    # ``oddkout predict`` puts an apostrophe before cells that look like formulas.
    rows = [[plain_cell(cell) for cell in row] for row in read_text_rows(path)]
    header, rows = (rows[0], [row for row in rows[1:] if row]) if rows else ([], [])
    if columns.labels is None and columns.target not in header:
        if columns.target == "label":
            raise ValueError(
                f"{path.name}: the header must hold one column 'label' and one column per class, "
                f"got {header[:6]}; name another column of labels with --target, or a second file "
                "with --labels and --id"
            )
        raise ValueError(_absent(path, "target", columns.target, header))
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        raise ValueError(f"{path.name} must name every column once, got {few(repeated)} repeatedly")
    if not rows:
        raise ValueError(f"{path.name}: the file must hold a line per example, got none")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(
                f"{path.name}: every line must have {len(header)} values like the header, got "
                f"{len(row)} in line {number}"
            )
    if columns.id is not None and columns.id not in header:
        raise ValueError(_absent(path, "id", columns.id, header))
    if columns.group is not None and columns.group not in header and columns.labels is None:
        raise ValueError(_absent(path, "group", columns.group, header))
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def _matched(
    path: Path, table: dict[str, list[str]], columns: LabelColumns
) -> tuple[list[str], list[str] | None, tuple[str, ...]]:
    """Labels and groups of the predictions from the second file; and a note on unused labels."""
    assert columns.labels is not None, "only called with a second file"
    assert columns.id is not None, "checked by LabelColumns"
    ids = table[columns.id]
    has_groups = columns.group is not None and columns.group not in table
    names = [columns.id, columns.target, *([columns.group] if has_groups and columns.group else [])]
    found = read_columns(columns.labels, names)
    for file, values in ((path, ids), (columns.labels, found[columns.id])):
        if repeated := [value for value, count in Counter(values).items() if count > 1]:
            raise ValueError(
                f"{columns.id!r} must identify the rows of {file.name}, but {few(repeated)} occur "
                "more than once; choose another column, or drop the copies"
            )
    row_of = {value: row for row, value in enumerate(found[columns.id])}
    if absent := [value for value in ids if value not in row_of]:
        raise ValueError(
            f"every prediction must have a label, but {len(absent)} of {len(ids)} have no row in "
            f"{columns.labels.name}: {columns.id} {few(absent)}; add their labels, or drop them"
        )
    rows = [row_of[value] for value in ids]
    unused = len(row_of) - len(rows)
    notes = (f"{unused} labels of {columns.labels.name} have no prediction and are left out",)
    groups = (
        [found[columns.group][row] for row in rows]
        if has_groups and columns.group
        else table.get(columns.group or "")
    )
    return [found[columns.target][row] for row in rows], groups, notes if unused else ()


def _absent(path: Path, option: str, name: str, header: Sequence[str]) -> str:
    """The error about a column that is not in the file."""
    return (
        f"--{option} must name a column of {path.name}, but there is no column {name!r}; "
        f"{suggestion(name, header)}"
    )


def _read_npz(path: Path, are_logits: bool, columns: LabelColumns) -> PredictionFile:
    if columns.labels is not None or columns.target != "label":
        raise ValueError(
            f"--target, --labels and --id are for .csv files, got {path.name}; save the labels as "
            "the array labels"
        )
    arrays = read_arrays(path)
    names = [name for name in ("probs", "logits") if name in arrays]
    if len(names) != 1 or "labels" not in arrays:
        raise ValueError(
            f"{path.name} must hold labels and either probs or logits, got {sorted(arrays)}"
        )
    if are_logits and names == ["probs"]:
        raise ValueError(f"{path.name} holds probs, not logits; leave --logits out")
    if columns.group is not None and columns.group not in arrays:
        raise ValueError(
            f"--group must name an array of {path.name}, but there is no {columns.group!r}; the "
            f"arrays are {sorted(arrays)}"
        )
    classes = [str(name) for name in arrays["classes"]] if "classes" in arrays else None
    labels = arrays["labels"]
    if labels.dtype.kind in "US":
        if classes is None:
            raise ValueError(f"{path.name}: labels are names, so classes must be given, got none")
        labels = _positions(path, labels.astype(str).tolist(), classes)
    groups = None if columns.group is None else arrays[columns.group].tolist()
    return PredictionFile({names[0]: arrays[names[0]]}, labels, classes, groups)


def _positions(path: Path, labels: list[str], classes: list[str]) -> np.ndarray:
    """Positions of the labels among the classes: by name if all are names, else as numbers.

    If a class has a number for a name, labels are names: a position would be ambiguous.
    """
    position = {name.strip(): number for number, name in enumerate(classes)}
    unknown = [label for label in labels if label not in position]
    if not unknown:
        return np.array([position[label] for label in labels])
    try:
        if any(name.lstrip("-").isdigit() for name in position):
            raise ValueError
        return np.array([int(label) for label in labels])
    except ValueError:
        raise ValueError(
            f"{path.name}: labels must be names of classes or positions from 0, got "
            f"{unknown[0]!r}; the classes are {classes[:6]}"
        ) from None
