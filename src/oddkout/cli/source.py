"""The options that say where data come from, shared by all commands that read some."""

from pathlib import Path
from typing import Annotated

import typer

Source = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="digits, mnist, fashion_mnist, cifar10, cifar100; or a path: .npz, .csv, .parquet, or "
        "a folder of images per class.",
    ),
]
Target = Annotated[str | None, typer.Option(help="Tables: the column that holds the class.")]
Test = Annotated[str | None, typer.Option(help="A separate test file or folder.")]
TestSize = Annotated[
    float, typer.Option(help="Without one: the share of every class kept for the test.")
]
ImageSize = Annotated[
    int | None, typer.Option(help="Folders: height and width to scale every image to.")
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(help="Tables: a column of numbers to take as categories; may be repeated."),
]
DataDir = Annotated[
    Path | None,
    typer.Option(help="Where to look for a known data set first, before $ODDKOUT_DATA."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
