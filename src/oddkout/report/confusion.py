"""The confusion matrix as a reader sees it: shares of each true class."""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float
from numpy import ndarray

# The matrix is shown up to this number of classes; of more, the most frequent confusions.
_MATRIX, _PAIRS = 12, 12


@dataclass(frozen=True)
class Confusion:
    """Which classes are taken for which.

    Attributes:
        classes: Names of the classes.
        counts: Test cases of each true class (row) by predicted class (column).
    """

    classes: Sequence[str]
    counts: Float[ndarray, "classes classes"]

    @property
    def is_small(self) -> bool:
        """Whether the whole matrix is readable."""
        return len(self.classes) <= _MATRIX

    @property
    def rows(self) -> list[tuple[str, float, list[float]]]:
        """For each true class its name, its number of test cases, and the share of each answer."""
        sizes = self.counts.sum(axis=1).tolist()
        return [
            (name, size, [count / size if size else 0.0 for count in own])
            for name, size, own in zip(self.classes, sizes, self.counts.tolist(), strict=True)
        ]

    @property
    def pairs(self) -> list[tuple[str, str, float, float]]:
        """The most frequent confusions: true class, answer, number of cases, share of the class."""
        found = [
            (name, self.classes[column], share * size, share)
            for row, (name, size, shares) in enumerate(self.rows)
            for column, share in enumerate(shares)
            if row != column and share
        ]
        return sorted(found, key=lambda pair: -pair[2])[:_PAIRS]
