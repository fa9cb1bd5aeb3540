"""Names of columns: the one that was probably meant."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from oddkout.checks import few


def hint(name: str, columns: Iterable[str]) -> str:
    """What to write instead of a name that no column has.

    Example:
        >>> hint("Patiant", ["patient", "age"])
        "did you mean 'patient'?"
    """
    known = list(columns)
    folded = {column.casefold().strip(): column for column in reversed(known)}
    close = get_close_matches(name.casefold().strip(), folded, n=1)
    return f"did you mean {folded[close[0]]!r}?" if close else f"the columns are {few(known)}"


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
                f"{name!r}; {hint(name, columns)}"
            )
