"""Options for the data, shared by all commands that read data."""

from pathlib import Path
from typing import Annotated, Literal

import typer

SOURCE_HELP = (
    "digits, mnist, fashion_mnist, cifar10, cifar100; or a path: a table (.csv, .tsv, .xlsx, "
    ".parquet), .npz, or a folder with one subfolder of images per class."
)
TEST_SIZE = 0.2
SourceArgument = Annotated[str, typer.Argument(metavar="DATA", help=SOURCE_HELP)]
TargetOption = Annotated[
    str | None, typer.Option("--target", help="Tables: the column that holds the class.")
]
TestOption = Annotated[str | None, typer.Option("--test", help="A separate test file or folder.")]
TestSizeOption = Annotated[
    float,
    typer.Option("--test-size", help="Share of each class for the test part; 0 for none."),
]
ImageSizeOption = Annotated[
    int | None,
    typer.Option("--image-size", help="Folders: height and width to scale each image to."),
]
CategoricalOption = Annotated[
    list[str] | None,
    typer.Option("--categorical", help="Tables: column to treat as categories; may be repeated."),
]
TextOption = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        help="Tables: column of free text, whose words are hashed; otherwise it is left out. May "
        "be repeated.",
    ),
]
NumericOption = Annotated[
    list[str] | None,
    typer.Option(
        "--numeric",
        help="Tables: column to treat as numbers although it looks like an identifier; may be "
        "repeated.",
    ),
]
RareBelowOption = Annotated[
    int,
    typer.Option(
        "--rare-below",
        help="Tables: categories with fewer training rows are merged, and no file names them.",
    ),
]
GroupOption = Annotated[
    str | None,
    typer.Option(
        "--group",
        help="Tables: column that holds the group of each row, such as the patient. Splits and "
        "folds keep groups together.",
    ),
]
DistributionOption = Annotated[
    Literal["all", "uniform", "heavy-tailed", "exponential"] | None,
    typer.Option(
        "--distribution", help="Training examples: all, or a subset with this class distribution."
    ),
]
TrainExamplesOption = Annotated[
    int | None, typer.Option("--train-examples", help="Size of the subset.")
]
DataDirOption = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder to search for a known data set before $ODDKOUT_DATA."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
