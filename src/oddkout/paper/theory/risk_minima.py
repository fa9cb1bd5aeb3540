"""Proposition on risk minima: in each entry of F, the risks are convex with one finite minimum.

As a function of x = F[row, column], a term of the risk depends on x through the probability
p = 1 / (1 + odds exp(-times x)) of the column's class, where ``times`` counts the row's class in
the set. Its derivative is times (p - 1) if the column's class is the target and times p if another
class is. Signs are proved in interval arithmetic (mpmath), which bounds all rounding errors.
"""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from jaxtyping import Float64
from torch import Tensor

from oddkout.losses.set_loss import Targets
from oddkout.paper.theory.algorithm import class_sets
from oddkout.paper.theory.statement import Check, Statement

WIDTH = 1e-9  # width of the interval that contains the minimum
REACH = 30  # the second derivative is proved positive on [-REACH, REACH]


@dataclass(frozen=True)
class IntervalTerm:
    """The contribution of one set to the risk, as a function of one entry of F.

    Attributes:
        times: Number of members of the row's class.
        odds: Interval (of mpmath) around the odds against the column's class at x = 0.
        named: Number of targets.
        right: Number of targets that are the column's class.
    """

    times: int
    odds: Any
    named: int
    right: int


def slice_terms(
    logits: Float64[Tensor, "classes classes"], k: int, *, row: int, column: int
) -> dict[Targets, list[IntervalTerm]]:
    """The terms of the printed risks, hard and soft, that depend on F[row, column]."""
    from mpmath import iv

    factors = [[iv.exp(iv.mpf(value)) for value in values] for values in logits.tolist()]
    factors[row][column] = iv.mpf(1)
    terms: dict[Targets, list[IntervalTerm]] = {"hard": [], "soft": []}
    for members in class_sets(len(factors), k).tolist():
        if row not in members:
            continue
        weights = [math.prod(factors[member][c] for member in members) for c in range(len(factors))]
        odds = sum(weight for c, weight in enumerate(weights) if c != column) / weights[column]
        times = members.count(row)
        terms["hard"].append(IntervalTerm(times, odds, 1, int(members[0] == column)))
        terms["soft"].append(IntervalTerm(times, odds, len(members), members.count(column)))
    return terms


def cross_entropy_terms(
    logits: Float64[Tensor, "classes classes"], *, row: int, column: int
) -> list[IntervalTerm]:
    """The same for cross-entropy, where every set is a single example."""
    from mpmath import iv

    weights = [iv.exp(iv.mpf(value)) for value in logits[row].tolist()]
    odds = sum(weight for c, weight in enumerate(weights) if c != column)
    return [IntervalTerm(1, odds, 1, int(row == column))]


def first_derivative(terms: list[IntervalTerm], x: Any) -> Any:
    """Interval around the derivative at the interval x: a sum of times (p - [named])."""
    from mpmath import iv

    decay = {times: iv.exp(-times * x) for times in (1, 2)}
    return sum(t.times * (t.named / (1 + t.odds * decay[t.times]) - t.right) for t in terms)


def second_derivative(terms: list[IntervalTerm], x: Any) -> Any:
    """Interval around the second derivative at the interval x: a sum of times^2 p (1 - p)."""
    from mpmath import iv

    odds = [t.odds * iv.exp(-t.times * x) for t in terms]
    return sum(
        t.times**2 * t.named * against / (1 + against) ** 2
        for t, against in zip(terms, odds, strict=True)
    )


def limits(terms: list[IntervalTerm]) -> tuple[int, int]:
    """The derivative at minus and at plus infinity; both are whole numbers."""
    return -sum(t.times * t.right for t in terms), sum(t.times * (t.named - t.right) for t in terms)


def minimum(terms: list[IntervalTerm]) -> float:
    """The point where the derivative changes sign, by bisection in float64; this is no proof."""
    plain = [(t.times, float(t.odds.mid), t.named, t.right) for t in terms]

    def slope(x: float) -> float:
        decay = [1, math.exp(-x), math.exp(-2 * x)]
        return sum(n * (m / (1 + odds * decay[n]) - r) for n, odds, m, r in plain)

    low, high = -float(REACH), float(REACH)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return low


def has_one_minimum(terms: list[IntervalTerm]) -> bool:
    """Whether interval arithmetic proves a sign change within ``WIDTH`` and convexity."""
    from mpmath import iv

    x = minimum(terms)
    return bool(
        limits(terms)[0] < 0 < limits(terms)[1]
        and first_derivative(terms, iv.mpf(x - WIDTH / 2)) < 0
        and first_derivative(terms, iv.mpf(x + WIDTH / 2)) > 0
        and second_derivative(terms, iv.mpf([-REACH, REACH])) > 0
    )


def risk_minima(largest: int = 6) -> Statement:
    """Check the proposition for C up to ``largest`` and all k, in two rows of a random F.

    Relabelling the classes maps any row to any other, so two rows suffice.
    """
    from mpmath import iv

    generator = torch.Generator().manual_seed(0)
    proved, cases, unbounded, pairs_only, monotone, entries = 0, 0, 0, 0, 0, 0
    everywhere = iv.mpf([-REACH, REACH])
    for classes in range(2, largest + 1):
        for k in range(classes):
            logits = 2 * torch.randn(classes, classes, generator=generator, dtype=torch.float64)
            for row, column in product(range(2), range(classes)):
                for terms in slice_terms(logits, k, row=row, column=column).values():
                    if k == 0:
                        pairs_only += 1
                        unbounded += 0 in limits(terms)
                    else:
                        cases += 1
                        proved += has_one_minimum(terms)
                slope = first_derivative(
                    cross_entropy_terms(logits, row=row, column=column), everywhere
                )
                entries += 1
                monotone += bool(slope < 0 if row == column else slope > 0)
    return Statement(
        name="Proposition on risk minima",
        statement="In every single entry of F, R_hard and R_soft are strictly convex and have "
        "exactly one, finite, minimum (k >= 1).",
        computed=f"Derivatives in interval arithmetic, two rows of a random F for C = 2 ... "
        f"{largest} and each k, hard and soft: a sign change of the first within {WIDTH:g}; the "
        f"second positive on [-{REACH}, {REACH}] (and everywhere: a sum of n^2 p (1 - p)).",
        checks=(
            Check(
                quantity="minima proved, against number of cases",
                value=proved,
                relation="=",
                expected=cases,
                reason="exact: intervals bound all rounding",
            ),
            Check(
                quantity="k = 0: entries without finite minimum",
                value=unbounded,
                relation="=",
                expected=pairs_only,
                reason="exact: the slope at infinity is 0",
            ),
            Check(
                quantity="cross-entropy: slopes proved < 0 on, > 0 off diagonal",
                value=monotone,
                relation="=",
                expected=entries,
                reason=f"exact: intervals, all of [-{REACH}, {REACH}]",
            ),
        ),
        remarks=(
            "the proposition needs k >= 1; with k = 0 or cross-entropy no entry has a minimum",
            "the paper prints the signs of the derivatives of cross-entropy the wrong way round",
        ),
    )
