"""``oddkout evaluate``: how good and how honest are these predictions?"""

import json
from pathlib import Path
from typing import Annotated

import typer

from oddkout.evaluation import evaluate as evaluated
from oddkout.evaluation.files import read_predictions


def evaluate(
    predictions: Annotated[Path, typer.Argument(help="CSV or npz file of predictions and labels.")],
    logits: Annotated[bool, typer.Option("--logits", help="The columns are logits.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write figures into this folder.")] = None,
    bins: Annotated[int, typer.Option(help="Bins of the binned calibration errors.")] = 15,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Measure anybody's predictions: accuracy, NLL, Brier, calibration errors and more.

    Every number has a 95 % interval, every calibration error what a perfectly calibrated model
    would score on as many examples.

    CSV: a header, a column [bold]label[/bold], and one column per class, named after it; labels
    are class names or positions from 0. npz: [bold]probs[/bold] or [bold]logits[/bold],
    [bold]labels[/bold], and [bold]classes[/bold] if they have names.

    Example: oddkout evaluate predictions.csv --out figures
    """
    file = read_predictions(predictions, are_logits=logits)
    report = evaluated(**file.given, labels=file.labels, classes=file.classes, bins=bins, seed=seed)
    figures: list[str] = []
    if out is not None:
        from oddkout.report.evaluation_figures import save_figures

        figures = [str(path) for path in save_figures(report, out)]
    if as_json:
        print(json.dumps(report.to_dict() | {"figures": figures}, allow_nan=False))
        return
    print(report)
    for path in figures:
        print(f"wrote {path}")
