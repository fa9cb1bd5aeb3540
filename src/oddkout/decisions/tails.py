"""Weighted tails of scores: the share of calibration examples that fit no better."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray


@dataclass(frozen=True)
class ScoreTail:
    """Sorted scores of calibration examples with their weights.

    Attributes:
        scores: Scores, lowest first.
        weight_from: Weight of the examples from each position on; a last 0 for none.
    """

    scores: Float[ndarray, " examples"]
    weight_from: Float[ndarray, " positions"]

    @classmethod
    def of(
        cls, scores: Float[ndarray, " examples"], weights: Float[ndarray, " examples"]
    ) -> "ScoreTail":
        """Sort scores.

        Example:
            >>> tail = ScoreTail.of(np.array([0.2, 0.1, 0.2]), np.ones(3))
            >>> tail.beyond(np.array([0.15, 0.2]), is_strict=False).tolist()
            [2.0, 2.0]
            >>> tail.beyond(np.array([0.15, 0.2]), is_strict=True).tolist()
            [2.0, 0.0]
        """
        order = np.argsort(scores, kind="stable")
        weight_from = np.append(np.cumsum(weights[order][::-1])[::-1], 0.0)
        return cls(scores[order], weight_from)

    @property
    def total(self) -> float:
        """Weight of all examples."""
        return float(self.weight_from[0])

    def beyond(
        self, values: Float[ndarray, " values"], *, is_strict: bool
    ) -> Float[ndarray, " values"]:
        """Weight of the examples whose score is at least each value; above it if ``is_strict``."""
        side: Literal["left", "right"] = "right" if is_strict else "left"
        return np.asarray(self.weight_from[np.searchsorted(self.scores, values, side=side)])


def is_vacuous(
    totals: Float[ndarray, " classes"], own: Float[ndarray, " classes"], *, alpha: float
) -> Bool[ndarray, " classes"]:
    """Whether even the worst fitting new example could not be excluded.

    Its share of the weight is above ``alpha``. Without weights: there are fewer than
    1 / alpha - 1 examples.

    Args:
        totals: Weight of the calibration examples that decide on each class.
        own: Weight of a new example of each class.

    Example:
        >>> is_vacuous(np.array([18.0, 19.0]), np.ones(2), alpha=0.05).tolist()
        [True, False]
    """
    return np.asarray(own / (totals + own) > alpha + 1e-12)
