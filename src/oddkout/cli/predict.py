"""``oddkout predict``: probabilities as CSV."""

import csv
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from oddkout.artifact import Classifier
from oddkout.cli.source import Json
from oddkout.data.examples import read_examples


def predict(
    model: Annotated[Path, typer.Argument(help="Folder of a classifier.")],
    source: Annotated[
        str, typer.Argument(metavar="DATA", help="Examples: .csv, .parquet, .npz, or a folder.")
    ],
    prior: Annotated[
        str | None,
        typer.Option(help="Class frequencies where it is used, e.g. 0.9,0.1 in the card's order."),
    ] = None,
    is_json: Json = False,
) -> None:
    """Print the probability of every class for every example, a row each.

    Example: oddkout predict digits-model new.npz > probabilities.csv
    """
    classifier = Classifier.load(model)
    frequencies = None
    if prior is not None:
        try:
            frequencies = [float(share) for share in prior.split(",")]
        except ValueError:
            raise ValueError(
                f"--prior must be numbers with commas between, such as 0.9,0.1, got {prior!r}"
            ) from None
    x = read_examples(Path(source), like=classifier.shape)
    probs = classifier.predict_proba(x, prior=frequencies)
    if is_json:
        print(json.dumps({"classes": classifier.classes, "probabilities": probs.tolist()}))
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(classifier.classes)
    writer.writerows([f"{value:.6g}" for value in row] for row in probs)
