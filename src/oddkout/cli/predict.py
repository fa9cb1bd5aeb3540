"""``oddkout predict``: predicted classes and probabilities as CSV."""

import csv
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from oddkout.cli.kept import kept_columns
from oddkout.cli.prior import PriorOption, prior_value
from oddkout.cli.source import JsonOption
from oddkout.data.cells import safe_cell
from oddkout.data.examples import read_examples
from oddkout.evaluation.files import PREDICTED
from oddkout.fitting.classifier import Classifier


def predict(
    model: Annotated[Path, typer.Argument(help="Folder of a classifier.")],
    source: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="Examples: a table, .npz, a folder of images, or a known data set, whose test "
            "part is used.",
        ),
    ],
    keep: Annotated[
        str,
        typer.Option(
            help="Tables: columns to copy, separated by commas, e.g. id,ward. The predicted class "
            "is then written, too, and oddkout evaluate reads the result."
        ),
    ] = "",
    prior: PriorOption = None,
    is_json: JsonOption = False,
) -> None:
    """Print the probability of each class as CSV, one row per example.

    Example: oddkout predict digits-model new.npz > probabilities.csv

    With the identifiers and the predicted class, for [bold]oddkout evaluate[/bold]:
    oddkout predict model patients.csv --keep id > predictions.csv
    """
    classifier = Classifier.load(model)
    x = read_examples(source, like=classifier.shape)
    if keep and PREDICTED in classifier.classes:
        raise ValueError(
            f"the column of predicted classes is called {PREDICTED!r}, like a class of this "
            "classifier; leave --keep out, or train with another name of the class"
        )
    kept = kept_columns(source, x, keep, taken={PREDICTED, *classifier.classes})
    requested = classifier.requested_prior(prior_value(prior))
    probs = classifier.predict_proba(x, prior=requested)
    predicted = [classifier.classes[column] for column in probs.argmax(axis=1)]
    stated = list(classifier.prior if requested is None else requested)
    if is_json:
        record = {
            "classes": classifier.classes,
            "prior": stated,
            "kept": kept,
            "predicted": predicted,
            "probabilities": probs.tolist(),
        }
        print(json.dumps(record))
        return
    print(f"probabilities are for the class frequencies {_listed(classifier, stated)}",
          file=sys.stderr)  # fmt: skip
    before = {**kept, PREDICTED: predicted} if kept else {}
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([safe_cell(name) for name in (*before, *classifier.classes)])
    for number, row in enumerate(probs):
        cells = [safe_cell(values[number]) for values in before.values()]
        writer.writerow([*cells, *(f"{value:.9g}" for value in row)])


def _listed(classifier: Classifier, prior: list[float]) -> str:
    """Class frequencies by name, as many as fit on a line."""
    pairs = [f"{name} {share:.3g}" for name, share in zip(classifier.classes, prior, strict=True)]
    return ", ".join(pairs if len(pairs) <= 12 else [*pairs[:12], "..."])
