"""Options for training, shared by ``compare`` and ``train``."""

from typing import Annotated, Any

import typer

from oddkout.fitting.recipe import LEARNING_RATES, Recipe
from oddkout.models import NAMES

ModelOption = Annotated[
    str | None,
    typer.Option("--model", help=f"The network: {', '.join(NAMES)}, or package.module:function."),
]
UpdatesOption = Annotated[
    int | None,
    typer.Option(
        "--updates",
        help=f"Number of updates; by default {Recipe.updates}, and up to twice as many if classes "
        "have more than ten examples.",
    ),
]
ExamplesOption = Annotated[
    int | None,
    typer.Option(
        "--examples", help=f"Number of examples in an update; {Recipe.examples} by default."
    ),
]
DropoutOption = Annotated[
    float | None,
    typer.Option("--dropout", help=f"Dropout of the last features; {Recipe.dropout} by default."),
]
LearningRatesOption = Annotated[
    str,
    typer.Option(
        "--learning-rates", help="Comma-separated learning rates; the best is chosen out of fold."
    ),
]
FoldsOption = Annotated[
    int,
    typer.Option(
        "--folds",
        help="Number of cross-validation folds, which choose the learning rate and fit the "
        "temperature; 0 for none.",
    ),
]
DEFAULT_RATES = ",".join(map(str, LEARNING_RATES))


def given(**options: Any) -> dict[str, Any]:
    """The options that were given on the command line."""
    return {name: value for name, value in options.items() if value is not None}


def numbers(text: str, *, option: str) -> list[float]:
    """Parse comma-separated numbers.

    Args:
        option: Name of the option, for the error message.
    """
    try:
        return [float(part) for part in listed(text)]
    except ValueError:
        raise ValueError(
            f"{option} must be numbers separated by commas, such as 0.1,0.2, got {text!r}"
        ) from None


def listed(text: str) -> list[str]:
    """Split at commas; empty parts are dropped."""
    return [part.strip() for part in text.split(",") if part.strip()]
