"""The parts of an evaluation as text for a terminal."""

import math
from collections.abc import Sequence

from jaxtyping import Int
from torch import Tensor

from oddkout.evaluation.measured import ClassResult, Measured

# Rows of the table of classes, and largest confusion matrix that is printed.
MOST_ROWS = 12
MOST_CLASSES = 10
_WIDTH = 16


def metric_head() -> str:
    """Head of the table of metrics."""
    head = f"{'':<24}{'value':>8}  {'95 % interval':<18}"
    return f"{head}if calibrated: mean, 97.5th percentile, p"


def metric_line(title: str, measured: Measured) -> str:
    """One line of the table of metrics."""
    interval = f"[{measured.low:.4f}, {measured.high:.4f}]"
    line = f"{title:<24}{measured.value:>8.4f}  {interval:<18}"
    if measured.null is None:
        return line.rstrip()
    null = measured.null
    return f"{line}{null.mean:>20.4f}{null.high:>19.4f}{null.p_value:>7.3f}"


def class_table(classes: Sequence[ClassResult]) -> list[str]:
    """Recall, precision and F1 of each class; of many, the rarest and those of lowest recall."""
    kept = shown_classes(classes)
    lines = []
    if len(kept) < len(classes):
        lines.append(f"the rarest and the worst of {len(classes)} classes")
    width = max(len("class"), *(len(_short(result.name)) for result in kept))
    parts = "".join(f"{name:<24}" for name in ("recall", "precision", "F1"))
    lines.append(f"{'class':<{width}}{'examples':>10}  {parts}".rstrip())
    for result in kept:
        cells = "".join(
            f"{_cell(part):<24}" for part in (result.recall, result.precision, result.f1)
        )
        lines.append(f"{_short(result.name):<{width}}{result.examples:>10,}  {cells}".rstrip())
    return lines


def shown_classes(classes: Sequence[ClassResult]) -> list[ClassResult]:
    """The classes of the table: all, or half of them the rarest and half those of lowest recall."""
    if len(classes) <= MOST_ROWS:
        return list(classes)
    tested = [number for number, result in enumerate(classes) if result.examples]
    rarest = sorted(tested, key=lambda number: classes[number].examples)[: MOST_ROWS // 2]
    worst = sorted(
        (number for number in tested if number not in rarest),
        key=lambda number: classes[number].recall.value,
    )
    chosen = {*rarest, *worst[: MOST_ROWS - len(rarest)]}
    return [classes[number] for number in sorted(chosen)]


def confusion_table(matrix: Int[Tensor, "classes classes"], names: Sequence[str]) -> list[str]:
    """The confusion matrix; empty if there are too many classes for a terminal."""
    if len(names) > MOST_CLASSES:
        return []
    rows = [[f"{count:,}" for count in row] for row in matrix.tolist()]
    heads = [_short(name) for name in names]
    width = max(len("true class"), *map(len, heads))
    columns = [
        max(len(head), *(len(row[column]) for row in rows)) for column, head in enumerate(heads)
    ]

    def line(first: str, cells: Sequence[str]) -> str:
        padded = (f"{cell:>{size}}" for cell, size in zip(cells, columns, strict=True))
        return f"{first:<{width}}  {'  '.join(padded)}"

    return [
        f"{'':<{width}}  predicted class",
        line("true class", heads),
        *(line(head, row) for head, row in zip(heads, rows, strict=True)),
    ]


def _cell(measured: Measured | None) -> str:
    """A value with its interval; a dash if it is undefined."""
    if measured is None or math.isnan(measured.value):
        return "-"
    return f"{measured.value:.3f} [{measured.low:.3f}, {measured.high:.3f}]"


def _short(name: str) -> str:
    """A name on one line, of limited length."""
    name = " ".join(name.split())
    return name if len(name) <= _WIDTH else f"{name[: _WIDTH - 3]}..."
