"""Read predictions from CSV and npz files."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oddkout.data.npz import read_arrays


@dataclass(frozen=True)
class PredictionFile:
    """The contents of a file of predictions, as arguments of ``evaluate``."""

    given: dict[str, Any]
    labels: np.ndarray
    classes: list[str] | None


def read_predictions(path: Path, *, are_logits: bool = False) -> PredictionFile:
    """Read predictions and labels.

    A CSV file has a header, a column ``label``, and one column per class, named after the class.
    Labels are class names, or else positions from 0. An npz file holds ``probs`` or ``logits``,
    ``labels`` (names or positions) and, if the classes have names, ``classes``.

    Args:
        path: The CSV or npz file.
        are_logits: Whether the columns of a CSV file are logits rather than probabilities.
    """
    if path.suffix == ".npz":
        return _read_npz(path, are_logits)
    if path.suffix == ".csv":
        return _read_csv(path, are_logits)
    raise ValueError(f"predictions must be in a .csv or .npz file, got {path.name}")


def _read_csv(path: Path, are_logits: bool) -> PredictionFile:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.reader(file))
    header, rows = (rows[0], [row for row in rows[1:] if row]) if rows else ([], [])
    if header.count("label") != 1:
        raise ValueError(
            f"{path.name}: the header must hold one column 'label' and one column per class, got "
            f"{header[:6]}"
        )
    if not rows:
        raise ValueError(f"{path.name}: the file must hold a line per example, got none")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(header):
            raise ValueError(
                f"{path.name}: every line must have {len(header)} values like the header, got "
                f"{len(row)} in line {number}"
            )
    column = header.index("label")
    classes = header[:column] + header[column + 1 :]
    try:
        values = np.array([row[:column] + row[column + 1 :] for row in rows], dtype=float)
    except ValueError as error:
        raise ValueError(
            f"{path.name}: all columns but 'label' must be numbers, one column per class, but "
            f"one is not ({error}); drop other columns"
        ) from None
    labels = _positions(path, [row[column].strip() for row in rows], classes)
    return PredictionFile({"logits" if are_logits else "probs": values}, labels, classes)


def _read_npz(path: Path, are_logits: bool) -> PredictionFile:
    arrays = read_arrays(path)
    names = [name for name in ("probs", "logits") if name in arrays]
    if len(names) != 1 or "labels" not in arrays:
        raise ValueError(
            f"{path.name} must hold labels and either probs or logits, got {sorted(arrays)}"
        )
    if are_logits and names == ["probs"]:
        raise ValueError(f"{path.name} holds probs, not logits; leave --logits out")
    classes = [str(name) for name in arrays["classes"]] if "classes" in arrays else None
    labels = arrays["labels"]
    if labels.dtype.kind in "US":
        if classes is None:
            raise ValueError(f"{path.name}: labels are names, so classes must be given, got none")
        labels = _positions(path, labels.astype(str).tolist(), classes)
    return PredictionFile({names[0]: arrays[names[0]]}, labels, classes)


def _positions(path: Path, labels: list[str], classes: list[str]) -> np.ndarray:
    """Positions of the labels among the classes: by name if all are names, else as numbers."""
    position = {name.strip(): number for number, name in enumerate(classes)}
    unknown = [label for label in labels if label not in position]
    if not unknown:
        return np.array([position[label] for label in labels])
    try:
        return np.array([int(label) for label in labels])
    except ValueError:
        raise ValueError(
            f"{path.name}: labels must be names of classes or positions from 0, got "
            f"{unknown[0]!r}; the classes are {classes[:6]}"
        ) from None
