"""``oddkout decide``: sets, answers or referral for new cases, as CSV."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from oddkout.checks import few
from oddkout.cli.cells import safe_cell
from oddkout.cli.prior import PriorOption, prior_value
from oddkout.cli.source import JsonOption
from oddkout.cli.terminal import printable
from oddkout.data.examples import read_examples
from oddkout.data.sources import is_frame
from oddkout.decisions.decided import Decisions
from oddkout.fitting.classifier import Classifier

# Between the classes of a set.
_BETWEEN = " | "


def decide(
    model: Annotated[Path, typer.Argument(help="Folder of a classifier.")],
    source: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="Cases: .csv, .parquet, .npz, a folder of images, or a known data set, whose test "
            "part is used.",
        ),
    ],
    coverage: Annotated[
        float | None,
        typer.Option(help="Sets of classes that hold the true one in this share of cases."),
    ] = None,
    risk: Annotated[
        float | None,
        typer.Option(help="An answer, or refer: at most this share of the answers is wrong."),
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(
            help="The cheapest answer by this CSV file: a row per true class, its name first, and "
            "a column per answer."
        ),
    ] = None,
    by_class: Annotated[
        bool | None,
        typer.Option(
            "--by-class/--overall",
            help="Whether coverage or risk holds for each class; by default for coverage only.",
        ),
    ] = None,
    prior: PriorOption = None,
    keep: Annotated[
        str, typer.Option(help="Tables: columns to copy to the output, separated by commas.")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="File for the decisions.")] = None,
    is_json: JsonOption = False,
) -> None:
    """Decide on new cases: a set of classes, an answer or referral, or the cheapest answer.

    The decisions are printed as CSV, one row per case, and a summary on stderr. What is promised
    rests on the held-out predictions that a classifier trained with folds keeps.

    Example: oddkout decide model new.csv --risk 0.05 --keep id > decisions.csv
    """
    classifier = Classifier.load(model)
    examples = read_examples(source, like=classifier.shape)
    names = [name.strip() for name in keep.split(",") if name.strip()]
    kept = _kept(examples, names)
    found = classifier.decide(
        examples,
        coverage=coverage,
        risk=risk,
        costs=costs,
        prior=prior_value(prior),
        by_class=by_class,
    )
    text = _as_json(found, names, kept) if is_json else _as_csv(found, names, kept)
    if out is None:
        print(text, end="")
    else:
        temporary = out.with_name(f".{out.name}.tmp")
        temporary.write_text(text, encoding="utf-8", newline="")
        temporary.replace(out)
    if not is_json or out is not None:
        print(printable(found), file=sys.stderr if out is None else sys.stdout)


def _kept(examples: Any, names: list[str]) -> list[list[Any]]:
    """The cells of the columns to keep, or the number of each row, from 1, if there are none."""
    if not names:
        return [[number + 1] for number in range(len(examples))]
    if not is_frame(examples):
        raise ValueError("--keep needs a table with named columns; leave it out for other data")
    columns = {str(column): examples[column] for column in examples.columns}
    if missing := [name for name in names if name not in columns]:
        raise ValueError(
            f"--keep must name columns of the table, but {few(missing)} are not; the columns are "
            f"{few(list(columns))}"
        )
    return [
        [cell.item() if hasattr(cell, "item") else cell for cell in row]
        for row in zip(*(columns[name] for name in names), strict=True)
    ]


def _as_csv(found: Decisions, names: list[str], kept: list[list[Any]]) -> str:
    """One row per case, as text."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    answer_name = "set" if found.kind == "coverage" else "answer"
    header = [*(names or ["row"]), answer_name, "reason"]
    writer.writerow([safe_cell(name) for name in header])
    for own, answer, reason in zip(kept, found.answers, found.reasons, strict=True):
        shown = _BETWEEN.join(answer) if isinstance(answer, tuple) else answer
        writer.writerow([safe_cell(cell) for cell in (*own, shown, reason)])
    return file.getvalue()


def _as_json(found: Decisions, names: list[str], kept: list[list[Any]]) -> str:
    """All cases and the summary, as one line of JSON."""
    record = found.to_dict()
    cases = [
        dict(zip(names or ["row"], map(_plain, own), strict=True)) | case
        for own, case in zip(kept, record["cases"], strict=True)
    ]
    return json.dumps(record | {"cases": cases}, allow_nan=False) + "\n"


def _plain(cell: Any) -> Any:
    """A cell as JSON can hold it: missing cells are null, dates are text."""
    if isinstance(cell, float) and cell != cell:
        return None
    return cell if isinstance(cell, str | int | float | bool | None) else str(cell)
