"""``oddkout evaluate``: accuracy and calibration of any model's predictions."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from oddkout.cli.source import JsonOption
from oddkout.cli.terminal import printable
from oddkout.evaluation import evaluate as evaluated
from oddkout.evaluation.files import LabelColumns, read_predictions


def evaluate(
    predictions: Annotated[Path, typer.Argument(help="CSV or npz file of predictions and labels.")],
    target: Annotated[str, typer.Option(help="CSV: the column that holds the class.")] = "label",
    labels: Annotated[
        Path | None,
        typer.Option(help="A second table with the labels, together with --id."),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option("--id", help="The column that identifies the examples in both files."),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="The column that holds the group of each example, such as the patient. Intervals "
            "then take the examples of a group as dependent. In an npz file, the name of an array."
        ),
    ] = None,
    logits: Annotated[
        bool, typer.Option("--logits", help="The columns are logits, not probabilities.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for figures.")] = None,
    bins: Annotated[int, typer.Option(help="Number of bins of the calibration errors.")] = 15,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    is_json: JsonOption = False,
) -> None:
    """Evaluate predictions of any model: accuracy, rare classes, NLL, calibration and more.

    Every number has a 95 % interval. Every calibration error has a null level: the score of a
    perfectly calibrated model on as many examples.

    A CSV file needs a header, a column [bold]label[/bold] (or --target), and one column per class,
    named after the class. Labels are class names or positions from 0. An npz file needs
    [bold]probs[/bold] or [bold]logits[/bold], [bold]labels[/bold], and [bold]classes[/bold] if the
    classes have names.

    Example: oddkout evaluate predictions.csv --out figures

    The output of oddkout predict --keep id, with labels from another table:
    oddkout evaluate predictions.csv --labels patients.csv --id id --target diagnosis
    """
    columns = LabelColumns(target=target, labels=labels, id=id_column, group=group)
    file = read_predictions(predictions, are_logits=logits, columns=columns)
    for note in file.notes:
        print(printable(note), file=sys.stderr)
    report = evaluated(
        **file.given,
        labels=file.labels,
        classes=file.classes,
        groups=file.groups,
        bins=bins,
        seed=seed,
    )
    figures: list[str] = []
    if out is not None:
        from oddkout.report.evaluation_figures import save_figures

        figures = [str(path) for path in save_figures(report, out)]
    if is_json:
        print(json.dumps(report.to_dict() | {"figures": figures}, allow_nan=False))
        return
    print(printable(report))
    for path in figures:
        print(f"wrote {path}")
