"""A test of whether classes were drawn uniformly."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass
class ClassDraws:
    """Counts of each class in draws of several distinct classes at once.

    Attributes:
        counts: Number of draws that contain the class.
        spread: Scale of the variance of these counts, if every draw is a uniform subset.

    Example:
        Ten draws of one of two classes, eight of them the same: scipy's ``chisquare([8, 2])``.

        >>> draws = ClassDraws.of_none(classes=2)
        >>> draws.add(torch.tensor([8, 2]), draws=10, size=1)
        >>> round(draws.p_value, 4)
        0.0578
    """

    counts: Float[Tensor, " classes"]
    spread: float

    @classmethod
    def of_none(cls, *, classes: int) -> "ClassDraws":
        """No draws yet."""
        return cls(torch.zeros(classes, dtype=torch.float64), 0.0)

    def add(self, counts: Tensor, *, draws: int, size: int) -> None:
        """Add the counts of ``draws`` draws, each of ``size`` distinct classes."""
        self.counts += counts
        # The indicators of a uniform subset of m of C classes have the covariance
        # m (C - m) / (C (C - 1)) (I - 1/C), so the sum of squares over that factor is chi-squared.
        classes = len(self.counts)
        self.spread += draws * size * (classes - size) / (classes * max(classes - 1, 1))

    @property
    def expected(self) -> float:
        """Mean number of draws of a class."""
        return float(self.counts.mean())

    @property
    def p_value(self) -> float:
        """Probability that uniform draws are at least as uneven, by the chi-squared test."""
        squares = float((self.counts - self.expected).square().sum())
        if self.spread == 0:  # every draw contains every class
            return 1.0 if squares < 1e-9 else 0.0
        freedom = torch.tensor(len(self.counts) - 1.0, dtype=torch.float64)
        return float(
            torch.special.gammaincc(freedom / 2, freedom.new_tensor(squares / self.spread / 2))
        )
