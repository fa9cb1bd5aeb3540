"""Tables of costs: a matrix with the names of its answers, from an array, a frame or a file."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from oddkout.checks import few
from oddkout.data.text_rows import read_text_rows
from oddkout.decisions.costing import checked_costs
from oddkout.decisions.referral import REFER


@dataclass(frozen=True)
class CostTable:
    """What each answer costs.

    Attributes:
        matrix: Cost of each answer (column) if each class (row) is the true one.
        answers: Names of the answers.
    """

    matrix: Float[ndarray, "classes answers"]
    answers: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The costs as plain values."""
        return {"answers": list(self.answers), "matrix": self.matrix.tolist()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "CostTable":
        """Read the result of ``to_dict``."""
        matrix = checked_costs(values["matrix"], classes=len(values["matrix"]))
        return cls(matrix, tuple(values["answers"]))


def cost_table(costs: Any, *, classes: Sequence[str]) -> CostTable:
    """Read costs for a classifier, or raise if they do not fit its classes.

    Args:
        costs: A matrix with a row per class and a column per class; a further column is the cost of
            referring a case. Or a pandas frame or the path of a CSV file whose rows are named by
            the true class and whose columns are named by the answer.
        classes: Names of the classes.

    Example:
        >>> cost_table([[0, 1, 0.2], [9, 0, 0.2]], classes=["well", "ill"]).answers
        ('well', 'ill', 'refer')
    """
    if isinstance(costs, str | Path):
        return _read(Path(costs), classes)
    if hasattr(costs, "columns") and hasattr(costs, "index"):
        answers = [str(name) for name in costs.columns]
        rows = dict(zip(map(str, costs.index), np.asarray(costs).tolist(), strict=True))
        if len(rows) < len(costs):
            raise ValueError(f"costs must name every class once, got {few(list(costs.index))}")
        return _named(rows, answers, classes, source="costs")
    matrix = checked_costs(costs, classes=len(classes))
    extra = matrix.shape[1] - len(classes)
    if extra not in (0, 1):
        raise ValueError(
            f"costs without names must have a column for each of the {len(classes)} classes, and "
            f"one more at most, for referring, got {matrix.shape[1]}; name the answers: pass a "
            "pandas frame or a CSV file"
        )
    return CostTable(matrix, (*classes, *[REFER] * extra))


def cost_text(table: CostTable, *, classes: Sequence[str]) -> str:
    """The costs as a CSV file that ``cost_table`` reads.

    Args:
        table: The costs.
        classes: Names of the classes.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["true class", *table.answers])
    writer.writerows(
        [name, *map(repr, row)] for name, row in zip(classes, table.matrix.tolist(), strict=True)
    )
    return file.getvalue()


def _read(path: Path, classes: Sequence[str]) -> CostTable:
    """Read a CSV file."""
    lines = [row for row in read_text_rows(path) if any(cell.strip() for cell in row)]
    if len(lines) < 2 or len(lines[0]) < 2:
        raise ValueError(
            f"{path.name} must hold a header with the answers and a row per true class, its name "
            "first, separated by commas, got "
            f"{len(lines)} rows"
        )
    answers = [cell.strip() for cell in lines[0][1:]]
    rows: dict[str, list[Any]] = {}
    for row in lines[1:]:
        name = row[0].strip()
        if name in rows:
            raise ValueError(f"{path.name} must name every class once, got {name!r} twice")
        rows[name] = [cell.strip() for cell in row[1:]]
    return _named(rows, answers, classes, source=path.name)


def _named(
    rows: dict[str, list[Any]], answers: list[str], classes: Sequence[str], *, source: str
) -> CostTable:
    """Costs by name, in the order of the classes."""
    missing, unknown = [c for c in classes if c not in rows], [r for r in rows if r not in classes]
    if missing or unknown:
        wrong = f"{few(missing)} are missing" if missing else f"{few(unknown)} are not classes"
        raise ValueError(
            f"{source} must hold one row for each class of the model, but {wrong}; the classes are "
            f"{few(classes)}"
        )
    if len(set(answers)) < len(answers) or "" in answers:
        raise ValueError(f"{source} must name every answer once, got {few(answers)}")
    for name in classes:
        cells = rows[name]
        if len(cells) != len(answers) or any(cell in ("", None) for cell in cells):
            raise ValueError(
                f"{source} must hold a cost for every answer, but a cell of the row {name!r} is "
                "missing; write 0 for no cost"
            )
    return CostTable(
        checked_costs([rows[name] for name in classes], classes=len(classes)), tuple(answers)
    )
