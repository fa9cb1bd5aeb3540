"""Options that say how to train, shared by ``compare`` and ``train``."""

from typing import Annotated, Any

import typer

from oddkout.fitting.recipe import LEARNING_RATES, Recipe
from oddkout.models import NAMES

ModelOption = Annotated[
    str | None,
    typer.Option("--model", help=f"{', '.join(NAMES)}, or package.module:factory."),
]
UpdatesOption = Annotated[
    int | None,
    typer.Option(
        "--updates",
        help=f"Number of updates; by default {Recipe.updates}, up to twice as many where classes "
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
    typer.Option(
        "--dropout", help=f"Share of the last features to drop; {Recipe.dropout} by default."
    ),
]
LearningRatesOption = Annotated[
    str,
    typer.Option(
        "--learning-rates", help="Learning rates to choose from out of fold, comma-separated."
    ),
]
FoldsOption = Annotated[
    int,
    typer.Option(
        "--folds", help="Folds that choose the learning rate and fit the temperature; 0 for none."
    ),
]
DEFAULT_RATES = ",".join(map(str, LEARNING_RATES))


def given(**options: Any) -> dict[str, Any]:
    """The options that were given on the command line."""
    return {name: value for name, value in options.items() if value is not None}


def numbers(text: str, *, option: str) -> list[float]:
    """Comma-separated numbers.

    Args:
        text: What was typed.
        option: Name of the option, for an error.
    """
    try:
        return [float(part) for part in listed(text)]
    except ValueError:
        raise ValueError(
            f"{option} must be numbers separated by commas, such as 0.1,0.2, got {text!r}"
        ) from None


def listed(text: str) -> list[str]:
    """Comma-separated parts."""
    return [part.strip() for part in text.split(",") if part.strip()]
