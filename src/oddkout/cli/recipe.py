"""The options that say how to train, shared by all commands that do."""

from typing import Annotated

import typer

Model = Annotated[
    str, typer.Option(help="auto, mlp, cnn, resnet18, resnet34, or package.module:factory.")
]
Updates = Annotated[int, typer.Option(help="Number of updates.")]
Examples = Annotated[int, typer.Option(help="Number of examples in an update.")]
Dropout = Annotated[float, typer.Option(help="Share of the last features that training drops.")]
