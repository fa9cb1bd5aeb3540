"""``oddkout evaluate``: accuracy and calibration of any model's predictions."""

import json
from pathlib import Path
from typing import Annotated

import typer

from oddkout.cli.source import JsonOption
from oddkout.evaluation import evaluate as evaluated
from oddkout.evaluation.files import read_predictions


def evaluate(
    predictions: Annotated[Path, typer.Argument(help="CSV or npz file of predictions and labels.")],
    logits: Annotated[
        bool, typer.Option("--logits", help="The columns are logits, not probabilities.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for figures.")] = None,
    bins: Annotated[int, typer.Option(help="Number of bins of the calibration errors.")] = 15,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    is_json: JsonOption = False,
) -> None:
    """Evaluate predictions of any model: accuracy, NLL, Brier score, calibration errors and more.

    Every number has a 95 % interval. Every calibration error has a null level: the score of a
    perfectly calibrated model on as many examples.

    A CSV file needs a header, a column [bold]label[/bold], and one column per class, named after
    the class. Labels are class names or positions from 0. An npz file needs [bold]probs[/bold] or
    [bold]logits[/bold], [bold]labels[/bold], and [bold]classes[/bold] if the classes have names.

    Example: oddkout evaluate predictions.csv --out figures
    """
    file = read_predictions(predictions, are_logits=logits)
    report = evaluated(**file.given, labels=file.labels, classes=file.classes, bins=bins, seed=seed)
    figures: list[str] = []
    if out is not None:
        from oddkout.report.evaluation_figures import save_figures

        figures = [str(path) for path in save_figures(report, out)]
    if is_json:
        print(json.dumps(report.to_dict() | {"figures": figures}, allow_nan=False))
        return
    print(report)
    for path in figures:
        print(f"wrote {path}")
