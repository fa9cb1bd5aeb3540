"""Options that say where data come from, shared by all commands that read data."""

from pathlib import Path
from typing import Annotated, Literal

import typer

SOURCE_HELP = (
    "digits, mnist, fashion_mnist, cifar10, cifar100; or a path: .npz, .csv, .parquet, or a folder "
    "with one subfolder of images per class."
)
TEST_SIZE = 0.2
SourceArgument = Annotated[str, typer.Argument(metavar="DATA", help=SOURCE_HELP)]
TargetOption = Annotated[str | None, typer.Option("--target", help="Tables: column of the class.")]
TestOption = Annotated[str | None, typer.Option("--test", help="A separate test file or folder.")]
TestSizeOption = Annotated[
    float,
    typer.Option("--test-size", help="Share of every class kept for the test; 0 for none."),
]
ImageSizeOption = Annotated[
    int | None,
    typer.Option("--image-size", help="Folders: height and width to scale every image to."),
]
CategoricalOption = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical", help="Tables: column of numbers to treat as categories; may be repeated."
    ),
]
DistributionOption = Annotated[
    Literal["all", "uniform", "heavy-tailed"] | None,
    typer.Option("--distribution", help="Training examples: all, or a subset with these classes."),
]
TrainExamplesOption = Annotated[
    int | None, typer.Option("--train-examples", help="Size of the subset.")
]
DataDirOption = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", help="Where to look for a known data set first, before $ODDKOUT_DATA."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
