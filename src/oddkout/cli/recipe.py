"""Options for training, shared by ``compare`` and ``train``."""

from typing import Annotated, Any, Literal

import typer

from oddkout.fitting.recipe import Recipe
from oddkout.fitting.selection import CANDIDATES, LEARNING_RATES
from oddkout.models import NAMES

ModelOption = Annotated[
    str | None,
    typer.Option("--model", help=f"The network: {', '.join(NAMES)}, or package.module:function."),
]
UpdatesOption = Annotated[
    int | None,
    typer.Option(
        "--updates",
        help=f"Largest number of updates; by default {Recipe.updates} for up to 200 examples, and "
        "more for more.",
    ),
]
ExamplesOption = Annotated[
    int | None,
    typer.Option(
        "--examples",
        help=f"Number of examples in an update; by default {Recipe.examples}, up to 128 for more "
        "data.",
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
    int | None,
    typer.Option(
        "--folds",
        help="Number of cross-validation folds, which choose and calibrate; by default 5, and 1 "
        "for more than 10,000 examples, which holds out a tenth. 0 for none.",
    ),
]
MembersCliOption = Annotated[
    Literal["folds", "single"],
    typer.Option(
        "--members",
        help="folds: the networks of the folds predict together; single: one network trained on "
        "everything.",
    ),
]
ChooseOption = Annotated[
    str,
    typer.Option(
        "--choose",
        help="Comma-separated further choices out of fold: "
        f"{', '.join(name for name in CANDIDATES if name != 'learning_rate')}.",
    ),
]
Bfloat16Option = Annotated[
    bool | None,
    typer.Option(
        "--bfloat16/--float32",
        help="Compute in bfloat16; by default on GPUs that support it.",
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
