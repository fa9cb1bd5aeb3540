"""The options that say how to train, shared by all commands that do."""

from typing import Annotated

import typer

from oddkout.fitting.recipe import Recipe
from oddkout.models import NAMES

Model = Annotated[str, typer.Option(help=f"{', '.join(NAMES)}, or package.module:factory.")]
Updates = Annotated[
    int | None,
    typer.Option(
        help=f"Number of updates; if not given, {Recipe.updates}, up to twice as many where "
        "classes have more than ten examples."
    ),
]
Examples = Annotated[int, typer.Option(help="Number of examples in an update.")]
Dropout = Annotated[float, typer.Option(help="Share of the last features that training drops.")]
