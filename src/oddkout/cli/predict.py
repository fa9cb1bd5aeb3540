"""``oddkout predict``: probabilities as CSV."""

import csv
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from oddkout.cli.prior import PriorOption, frequencies
from oddkout.cli.source import JsonOption
from oddkout.data.examples import read_examples
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
    prior: PriorOption = None,
    is_json: JsonOption = False,
) -> None:
    """Print the probability of each class as CSV, one row per example.

    Example: oddkout predict digits-model new.npz > probabilities.csv
    """
    classifier = Classifier.load(model)
    x = read_examples(source, like=classifier.shape)
    requested = frequencies(prior)
    probs = classifier.predict_proba(x, prior=requested)
    stated = list(classifier.prior if requested is None else requested)
    if is_json:
        record = {"classes": classifier.classes, "prior": stated, "probabilities": probs.tolist()}
        print(json.dumps(record))
        return
    print(f"probabilities are for the class frequencies {_listed(classifier, stated)}",
          file=sys.stderr)  # fmt: skip
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(classifier.classes)
    writer.writerows([f"{value:.6g}" for value in row] for row in probs)


def _listed(classifier: Classifier, prior: list[float]) -> str:
    """Class frequencies by name, as many as fit on a line."""
    pairs = [f"{name} {share:.3g}" for name, share in zip(classifier.classes, prior, strict=True)]
    return ", ".join(pairs if len(pairs) <= 12 else [*pairs[:12], "..."])
