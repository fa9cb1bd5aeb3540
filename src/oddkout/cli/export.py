"""``oddkout export``: export a calibrated classifier to one file."""

import json
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from oddkout.cli.prior import PriorOption, prior_value
from oddkout.cli.source import JsonOption
from oddkout.data.examples import read_examples
from oddkout.exports import MismatchError
from oddkout.exports import export as exported
from oddkout.exports.exporting import SUFFIX
from oddkout.fitting.classifier import Classifier


def export(
    model: Annotated[Path, typer.Argument(help="Folder of a classifier.")],
    format: Annotated[
        Literal["onnx", "torch"], typer.Option(help="An ONNX file or a torch.export program.")
    ] = "onnx",
    out: Annotated[
        Path | None, typer.Option(help="File to write; by default next to the folder.")
    ] = None,
    prior: PriorOption = None,
    data: Annotated[
        str | None,
        typer.Option(help="Real examples to verify with: a table, .npz, or a folder."),
    ] = None,
    is_json: JsonOption = False,
) -> int:
    """Export a classifier to one file that outputs its calibrated probabilities.

    The file includes preprocessing, network, temperature and prior, and takes any number of
    examples. Its output is compared with the classifier on random examples and on those of --data.
    If a probability differs by more than 1e-5, the file is removed and the exit code is 1.

    Example: oddkout export digits-model --format onnx --data new.npz
    """
    classifier = Classifier.load(model)
    path = out or model.parent.joinpath(f"{model.resolve().name}{SUFFIX[format]}")
    examples = None if data is None else read_examples(Path(data), like=classifier.shape)
    try:
        result = exported(
            classifier,
            path,
            format=format,
            prior=classifier.requested_prior(prior_value(prior)),
            examples=examples,
        )
    except MismatchError as error:
        print(f"oddkout: {error}", file=sys.stderr)
        return 1
    print(json.dumps(result.to_dict()) if is_json else result)
    return 0
