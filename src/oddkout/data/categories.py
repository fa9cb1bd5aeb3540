"""Categories as numbers: one column each, and one for all that are rare."""

from typing import Any

import numpy as np
from jaxtyping import Float32, Shaped
from numpy import ndarray

MISSING, RARE = "(missing)", "(rare)"

# Categories with fewer training rows are merged into one, so that no file names them.
RARE_BELOW = 3

# Only the most frequent categories of a column are kept, so that memory stays bounded.
_MOST_CATEGORIES = 256


def cells_of(column: Any) -> Shaped[ndarray, " rows"]:
    """The categories of a column as text, with one for missing cells."""
    texts = column.astype(object).astype(str)
    return np.asarray(np.where(column.isna(), MISSING, texts), dtype=object)


def kept_categories(cells: Shaped[ndarray, " rows"], *, rare_below: int) -> tuple[str, ...]:
    """The frequent categories in the order of their names; then one for the others, if any.

    Args:
        cells: Categories of the training part.
        rare_below: Least number of rows of a category.

    Example:
        >>> cells = np.array(["red"] * 5 + ["blue"] * 3 + ["mauve"], dtype=object)
        >>> kept_categories(cells, rare_below=3)
        ('blue', 'red', '(rare)')
    """
    names, counts = np.unique(cells.astype(str), return_counts=True)
    by_size = sorted(zip((-counts).tolist(), names.tolist(), strict=True))
    frequent = [name for count, name in by_size if -count >= rare_below and name != MISSING]
    missing = [MISSING] if MISSING in names else []
    kept = sorted([*missing, *frequent[:_MOST_CATEGORIES]])
    return (*kept, RARE) if len(kept) < len(names) and RARE not in kept else tuple(kept)


def one_hot(
    cells: Shaped[ndarray, " rows"], categories: tuple[str, ...]
) -> Float32[ndarray, "rows categories"]:
    """One column for each category; others count as rare, or as none if there are no rare ones."""
    code_of = {name: code for code, name in enumerate(categories)}
    codes = np.array([code_of.get(cell, code_of.get(RARE, -1)) for cell in cells])
    return np.asarray(codes[:, None] == np.arange(len(categories)), dtype=np.float32)
