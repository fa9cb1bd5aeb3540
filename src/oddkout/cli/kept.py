"""Columns of a table that a command copies to its output."""

from collections.abc import Collection
from typing import Annotated, Any

import typer

from oddkout.checks import few
from oddkout.cli.recipe import listed
from oddkout.data.examples import read_columns
from oddkout.data.sources import is_frame

KeepOption = Annotated[
    str, typer.Option(help="Tables: columns to copy to the output, separated by commas.")
]


def kept_columns(
    source: str, examples: Any, keep: str, *, taken: Collection[str]
) -> dict[str, list[str]]:
    """The columns to copy by name, as the file holds them; raise if there is no such column.

    Args:
        source: The table.
        examples: What was read from it.
        keep: Names of columns, separated by commas.
        taken: Names of the other columns of the output.
    """
    names = listed(keep)
    if names and not is_frame(examples):
        raise ValueError(
            f"--keep names columns of a table, but {source} holds arrays or images; leave it out"
        )
    if clashing := sorted({*names} & {*taken}):
        raise ValueError(
            "a column to keep must not be called like another column of the output, got "
            f"{few(clashing)}; rename it in the table"
        )
    return read_columns(source, names)
