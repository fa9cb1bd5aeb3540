"""Columns that say which rows belong together, and what a split that ignores them would claim."""

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64, Shaped
from numpy import ndarray

from oddkout.data.columns import is_named_identifier, number_column
from oddkout.data.table import TableEncoder, mixed_columns
from oddkout.metrics.intervals import clopper_pearson

_LEAST_GROUPS = 10
_LEAST_REPEATS = 1.5  # rows of a group, on average
_MOST_COLUMNS = 5  # that are examined
_MOST_ROWS = 2_000  # of whole groups
_FOLDS, _REPEATS, _TREES = 3, 3, 20

# A fall counts if chance gives it with this probability at most, over all examined columns.
_LEVEL = 0.001
_LEAST_FALL = 0.03

_GROUP_WORDS = re.compile(
    r"patient|subject|person|participant|pupil|student|user|customer|client|household|family|donor"
    r"|animal|mouse|site|centre|center|clinic|hospital|school|batch|session|device|group|cluster",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class GroupCheck:
    """The accuracy of a forest if rows are split at random, and if they are split by a column.

    The column itself is no feature in either case.

    Attributes:
        column: Name of the column.
        groups: Number of its values.
        random: Accuracy if rows are split at random, with its 95 % interval.
        grouped: Accuracy if rows with the same value stay together, with its 95 % interval.
        p_value: Probability that chance alone lets the accuracy fall so much.
        is_leaking: Whether the fall is significant and not small.
    """

    column: str
    groups: int
    random: tuple[float, float, float]
    grouped: tuple[float, float, float]
    p_value: float
    is_leaking: bool

    def __str__(self) -> str:
        return (
            f"{self.column} ({self.groups} values): {_shown(self.random)} at random, "
            f"{_shown(self.grouped)} by {self.column}"
        )

    @property
    def sentence(self) -> str:
        """What falls by how much, and what to pass."""
        return (
            f"rows with the same {self.column!r} seem to belong together: a forest reaches "
            f"accuracy {_shown(self.random)} if rows are split at random, but "
            f"{_shown(self.grouped)} if they are split by {self.column!r}; pass --group "
            f"{self.column}, or scores will be too good"
        )


def group_candidates(frame: Any) -> list[str]:
    """Columns whose values repeat, those first that are named like a group.

    Columns of text or whole numbers with at least 10 values and 1.5 rows per value.

    Args:
        frame: Feature columns as they were read.
    """
    ranks = {}
    for name in frame.columns:
        codes = _codes(frame[name])
        groups, rows = len(np.unique(codes[codes >= 0])), int((codes >= 0).sum())
        if groups >= _LEAST_GROUPS and rows >= _LEAST_REPEATS * groups:
            is_named = bool(_GROUP_WORDS.search(name)) or is_named_identifier(name)
            ranks[name] = (not is_named, rows / groups)
    return sorted(ranks, key=lambda name: ranks[name])[:_MOST_COLUMNS]


def checked_groups(
    frame: Any, y: Int64[ndarray, " rows"], columns: Iterable[str], **kinds: Any
) -> Iterator[GroupCheck]:
    """Fit a forest with random splits and with splits by each column, and compare.

    Args:
        frame: Feature columns as they were read, the examined ones among them.
        y: Class of every row.
        columns: Columns to examine.
        **kinds: Arguments of ``TableEncoder``.
    """
    names = list(columns)
    for name in names:
        groups = _codes(frame[name])
        rows = _sampled(groups)
        others = frame.drop(columns=name).iloc[rows]
        try:
            x = _encoded(others, kinds, without=name)
        except ValueError:  # nothing is left to learn from
            continue
        yield _check(name, x, y[rows], groups[rows], examined=len(names))


def _encoded(frame: Any, kinds: Any, *, without: str) -> Any:
    """Features of the rows, without one of the columns."""
    given: dict[str, Any] = {
        option: [name for name in value if name != without] if option != "rare_below" else value
        for option, value in kinds.items()
    }
    taken = {*given.get("text", ()), *given.get("numeric", ())}
    mixed = [name for name in mixed_columns(frame) if name not in taken]
    given["categorical"] = list({*given.get("categorical", ()), *mixed})
    return TableEncoder(frame, **given).encode(frame)


def _codes(column: Any) -> Int64[ndarray, " rows"]:
    """Values as integers, -1 for missing cells; all are -1 if the column holds measurements."""
    import pandas as pd

    if column.dtype.kind in "bmMc":
        return np.full(len(column), -1)
    numbers = number_column(column.dropna(), allow_text=True) if column.dtype.kind == "f" else None
    if numbers is not None and ((numbers % 1) != 0).any():
        return np.full(len(column), -1)
    codes, _ = pd.factorize(column.astype(object).map(str, na_action="ignore"))
    return np.asarray(codes, dtype=np.int64)


def _sampled(groups: Int64[ndarray, " rows"]) -> Int64[ndarray, " sampled"]:
    """Rows of whole groups, drawn at random if there are many."""
    names, counts = np.unique(groups[groups >= 0], return_counts=True)
    order = np.random.default_rng(0).permutation(len(names))
    kept = names[order[np.cumsum(counts[order]) <= max(_MOST_ROWS, counts[order[0]])]]
    return np.flatnonzero(np.isin(groups, kept)).astype(np.int64)


def _check(
    name: str,
    x: Any,
    y: Shaped[ndarray, " rows"],
    groups: Shaped[ndarray, " rows"],
    *,
    examined: int,
) -> GroupCheck:
    """Compare both splits on the same rows."""
    from scipy.stats import t
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    at_random, by_group = [], []
    for seed in range(_REPEATS):
        options = {"n_splits": _FOLDS, "shuffle": True, "random_state": seed}
        at_random.append(_hits(x, y, StratifiedKFold(**options).split(x, y), seed))
        grouped = StratifiedGroupKFold(**options).split(x, y, groups)
        by_group.append(_hits(x, y, grouped, seed))
    hits, grouped_hits = np.stack(at_random), np.stack(by_group)
    fall = hits - grouped_hits
    count = len(np.unique(groups))
    error = _standard_error(fall, groups)
    p_value = float(t.sf(fall.mean() / error, count - 1)) if error > 0 else 1.0
    return GroupCheck(
        column=name,
        groups=count,
        random=_interval(hits, groups),
        grouped=_interval(grouped_hits, groups),
        p_value=p_value,
        is_leaking=bool(p_value < _LEVEL / examined and fall.mean() >= _LEAST_FALL),
    )


def _hits(x: Any, y: Any, splits: Any, seed: int) -> Float64[ndarray, " rows"]:
    """Whether each row is predicted correctly by a forest that has not seen its fold."""
    from sklearn.ensemble import ExtraTreesClassifier

    hits = np.zeros(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with fewer rows than folds
        for train, test in splits:
            forest = ExtraTreesClassifier(_TREES, random_state=seed).fit(x[train], y[train])
            hits[test] = forest.predict(x[test]) == y[test]
    return hits


def _standard_error(
    values: Float64[ndarray, "repeats rows"], groups: Shaped[ndarray, " rows"]
) -> float:
    """Standard error of a cross-validated mean.

    Rows depend on each other within their group. Repeating the folds adds no data, so the variance
    is that of one repetition. Rows of a fold also share the training sample: the variance is raised
    by the ratio of test to training rows, as Nadeau and Bengio (2003) suggest.
    """
    code = np.unique(groups, return_inverse=True)[1]
    count = code.max() + 1
    sums = np.stack([np.bincount(code, row - row.mean()) for row in values])
    variance = count / max(count - 1, 1) * (sums**2).sum(axis=1).mean() / values.shape[1] ** 2
    return float(np.sqrt(variance * (1 + 1 / (_FOLDS - 1))))


def _interval(
    hits: Float64[ndarray, "repeats rows"], groups: Shaped[ndarray, " rows"]
) -> tuple[float, float, float]:
    """Mean with its 95 % interval: exact, for as many rows as would be as uncertain."""
    mean, error = float(hits.mean()), _standard_error(hits, groups)
    count = len(np.unique(groups))
    rows = count if error == 0 else min(max(mean * (1 - mean) / error**2, 2.0), hits.shape[1])
    low, high = clopper_pearson(mean * rows, rows)
    return mean, float(low), float(high)


def _shown(estimate: tuple[float, float, float]) -> str:
    return f"{estimate[0]:.2f} [{estimate[1]:.2f}, {estimate[2]:.2f}]"
