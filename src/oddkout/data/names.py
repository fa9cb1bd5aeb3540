"""Names of columns that a user gives."""

from collections.abc import Collection, Iterable

from oddkout.checks import suggestion


def refuse_unknown(names: Iterable[str], columns: Collection[str], *, option: str) -> None:
    """Raise if a name is not the name of a column.

    Args:
        names: Names that a user gave.
        columns: Names of the columns of the table.
        option: Name of the argument; the option of the command line follows from it.
    """
    for name in names:
        if name not in columns:
            raise ValueError(
                f"{option} (--{option}) must name a column of the table, but there is no column "
                f"{name!r}; {suggestion(name, columns)}"
            )
