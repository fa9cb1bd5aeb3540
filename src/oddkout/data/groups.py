"""Groups of examples, such as the visits of a patient: read, checked and kept together."""

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Int64
from numpy import ndarray

from oddkout.checks import Number, few, suggestion
from oddkout.data.sources import SourcePart, is_frame
from oddkout.data.splits import grouped_parts


def with_group_column(
    part: SourcePart, group: str, *, target: str | None, is_test: bool
) -> SourcePart:
    """The part with its groups taken from a column, which is no feature.

    Args:
        part: A table.
        group: Name of the column.
        target: Name of the column that holds the class.
        is_test: Whether it is a test part, which may lack the column.
    """
    if group == target:
        raise ValueError(
            f"group (--group) must be another column than the target, got {group!r} for both; name "
            "the column of what rows have in common, such as the patient"
        )
    columns = list(part.x.columns) if is_frame(part.x) else []
    if is_test and columns and group not in columns:
        return part
    if group not in columns:
        raise ValueError(
            f"group (--group) must name a column of the table, but there is no column {group!r}; "
            f"{suggestion(group, columns) if columns else 'for arrays, pass groups='}"
        )
    if len(columns) == 1:
        raise ValueError(
            f"the table must hold features besides {target!r} and {group!r}, got no other column"
        )
    return replace(part, x=part.x.drop(columns=group), groups=part.x[group].to_numpy())


def with_groups(part: SourcePart, groups: Any) -> SourcePart:
    """The part with a group for each example."""
    if len(groups) != len(part.x):
        raise ValueError(
            f"groups must name the group of each of the {len(part.x)} examples, got {len(groups)}"
        )
    return replace(part, groups=np.asarray(groups))


def group_codes(part: SourcePart) -> Int64[ndarray, " examples"]:
    """Groups as integers, the same for every split."""
    values = np.asarray(part.groups)
    missing = [row for row, value in enumerate(values.tolist()) if value is None or value != value]
    if missing:
        raise ValueError(
            f"every example must have a group, but examples {few(missing)} have none; name one for "
            "each, or drop them"
        )
    return np.unique(values.astype(str), return_inverse=True)[1].astype(np.int64)


def refuse_useless_groups(groups: Int64[ndarray, " examples"], y: Any) -> None:
    """Raise for a single group, and for groups that are the classes themselves."""
    count = len(np.unique(groups))
    if count < 2:
        raise ValueError(
            f"a split by groups needs at least 2 groups, got {count}; pass a separate test part, "
            "or leave the groups out"
        )
    pairs = len(np.unique(np.stack([groups, y]), axis=1).T)
    if pairs == count == len(np.unique(y)):
        raise ValueError(
            f"groups must be finer than the classes, but each of the {count} classes is one group; "
            "name the column of what rows have in common, such as the patient"
        )


def grouped_split(
    y: Any, groups: Int64[ndarray, " examples"], test_size: Number, seed: int
) -> tuple[Any, Any]:
    """A split that keeps groups together; a class of one group is in the training part."""
    part = grouped_parts(y, groups, shares=(1 - float(test_size), float(test_size)), seed=seed)
    for label in np.setdiff1d(np.unique(y), np.unique(y[part == 0])):
        kept = groups[(y == label)][0]
        part[groups == kept] = 0
    return np.flatnonzero(part == 0), np.flatnonzero(part == 1)
