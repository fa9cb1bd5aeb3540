"""``oddkout decide``: sets, answers or referral for new cases, as CSV."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from oddkout.cli.kept import KeepOption, kept_columns
from oddkout.cli.prior import PriorOption, prior_value
from oddkout.cli.source import JsonOption
from oddkout.cli.terminal import printable
from oddkout.data.cells import safe_cell
from oddkout.data.examples import read_examples
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
    keep: KeepOption = "",
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
    kept = kept_columns(source, examples, keep, taken=("set", "answer", "reason"))
    before: dict[str, list[Any]] = dict(kept) or {"row": list(range(1, len(examples) + 1))}
    found = classifier.decide(
        examples,
        coverage=coverage,
        risk=risk,
        costs=costs,
        prior=prior_value(prior),
        by_class=by_class,
    )
    text = _as_json(found, before) if is_json else _as_csv(found, before)
    if out is None:
        print(text, end="")
    else:
        temporary = out.with_name(f".{out.name}.tmp")
        temporary.write_text(text, encoding="utf-8", newline="")
        temporary.replace(out)
    if not is_json or out is not None:
        print(printable(found), file=sys.stderr if out is None else sys.stdout)


def _as_csv(found: Decisions, before: dict[str, list[Any]]) -> str:
    """One row per case, as text; the columns before the decision first."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    name = "set" if found.kind == "coverage" else "answer"
    writer.writerow([safe_cell(column) for column in (*before, name, "reason")])
    for *own, answer, reason in zip(*before.values(), found.answers, found.reasons, strict=True):
        shown = _BETWEEN.join(answer) if isinstance(answer, tuple) else answer
        writer.writerow([safe_cell(cell) for cell in (*own, shown, reason)])
    return file.getvalue()


def _as_json(found: Decisions, before: dict[str, list[Any]]) -> str:
    """All cases and the summary, as one line of JSON."""
    record = found.to_dict()
    cases = [
        dict(zip(before, own, strict=True)) | case
        for *own, case in zip(*before.values(), record["cases"], strict=True)
    ]
    return json.dumps(record | {"cases": cases}, allow_nan=False) + "\n"
