"""Proposition on risk minima: in any one entry of F, the risks are convex with one finite minimum.

Seen as a function of x = F[row, column], a term of the risk depends on x through the probability
p = 1 / (1 + exp(offset - times x)) of the column's class, ``times`` being how often the row's class
occurs in the set. Its derivative is a sum of times (p - 1) where that class is to be named and of
times p where another is. Signs are certified in interval arithmetic (mpmath), which bounds every
rounding error.
"""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from jaxtyping import Float64
from torch import Tensor

from oddkout.losses import Targets
from oddkout.theory.algorithm import class_sets
from oddkout.theory.claim import Check, Claim

WIDTH = 1e-9  # of the interval that holds the minimum
REACH = 30  # the second derivative is certified on [-REACH, REACH]


@dataclass(frozen=True)
class Term:
    """What one set adds to the risk, as a function of one entry of F.

    Attributes:
        times: How often the row's class occurs in the set.
        offset: Interval (of mpmath) around log-sum-exp of the other logits less the fixed part of
            the column's logit.
        named: Number of members to be named.
        right: How many of them are of the column's class.
    """

    times: int
    offset: Any
    named: int
    right: int


def slice_terms(
    logits: Float64[Tensor, "classes classes"], k: int, *, row: int, column: int
) -> dict[Targets, list[Term]]:
    """The terms of the printed risks, hard and soft, that depend on F[row, column]."""
    from mpmath import iv

    F = [[iv.mpf(value) for value in values] for values in logits.tolist()]  # noqa: N806
    F[row][column] = iv.mpf(0)
    terms: dict[Targets, list[Term]] = {"hard": [], "soft": []}
    for members in class_sets(len(F), k).tolist():
        if row not in members:
            continue
        summed = [sum(F[member][c] for member in members) for c in range(len(F))]
        rest = sum(iv.exp(value) for c, value in enumerate(summed) if c != column)
        offset = iv.log(rest) - summed[column]
        times = members.count(row)
        terms["hard"].append(Term(times, offset, 1, int(members[0] == column)))
        terms["soft"].append(Term(times, offset, len(members), members.count(column)))
    return terms


def cross_entropy_terms(
    logits: Float64[Tensor, "classes classes"], *, row: int, column: int
) -> list[Term]:
    """The same for cross-entropy, whose examples are sets of one."""
    from mpmath import iv

    values = [iv.mpf(value) for value in logits[row].tolist()]
    rest = sum(iv.exp(value) for c, value in enumerate(values) if c != column)
    return [Term(1, iv.log(rest), 1, int(row == column))]


def first_derivative(terms: list[Term], x: Any) -> Any:
    """Interval around the derivative at the interval x."""
    from mpmath import iv

    return sum(t.times * (t.named / (1 + iv.exp(t.offset - t.times * x)) - t.right) for t in terms)


def second_derivative(terms: list[Term], x: Any) -> Any:
    """Interval around the second derivative at the interval x: a sum of times^2 p (1 - p)."""
    from mpmath import iv

    return sum(
        t.times**2
        * t.named
        / (1 + iv.exp(t.offset - t.times * x))
        / (1 + iv.exp(t.times * x - t.offset))
        for t in terms
    )


def limits(terms: list[Term]) -> tuple[int, int]:
    """The derivative at minus and at plus infinity, whole numbers."""
    return -sum(t.times * t.right for t in terms), sum(t.times * (t.named - t.right) for t in terms)


def minimum(terms: list[Term]) -> float:
    """Where the derivative changes sign, by bisection in float64; not yet a proof."""
    plain = [(t.times, float(t.offset.mid), t.named, t.right) for t in terms]

    def slope(x: float) -> float:
        return sum(n * (m / (1 + math.exp(o - n * x)) - r) for n, o, m, r in plain)

    low, high = -float(REACH), float(REACH)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return low


def has_one_minimum(terms: list[Term]) -> bool:
    """Whether a sign change within ``WIDTH`` and convexity around it are proved."""
    from mpmath import iv

    x = minimum(terms)
    return bool(
        limits(terms)[0] < 0 < limits(terms)[1]
        and first_derivative(terms, iv.mpf(x - WIDTH / 2)) < 0
        and first_derivative(terms, iv.mpf(x + WIDTH / 2)) > 0
        and second_derivative(terms, iv.mpf([-REACH, REACH])) > 0
    )


def risk_minima(largest: int = 6) -> Claim:
    """The proposition for C up to ``largest``, all k, hard and soft, in every entry of random F."""
    from mpmath import iv

    generator = torch.Generator().manual_seed(0)
    proved, cases, unbounded, pairs_only, monotone, entries = 0, 0, 0, 0, 0, 0
    everywhere = iv.mpf([-REACH, REACH])
    for classes in range(2, largest + 1):
        for k in range(classes):
            logits = 2 * torch.randn(classes, classes, generator=generator, dtype=torch.float64)
            for row, column in product(range(classes), repeat=2):
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
    return Claim(
        name="Proposition on risk minima",
        statement="In every single entry of F, R_hard and R_soft are strictly convex and have "
        "exactly one, finite, minimum (k >= 1).",
        computed=f"Derivatives in interval arithmetic, every entry of a random F for C = 2 ... "
        f"{largest} and each k, hard and soft: a sign change of the first within {WIDTH:g}; the "
        f"second positive on [-{REACH}, {REACH}] (and everywhere: a sum of n^2 p (1 - p)).",
        checks=(
            Check(
                quantity="minima proved, of as many cases",
                value=proved,
                relation="=",
                expected=cases,
                reason="exact: intervals hold all rounding",
            ),
            Check(
                quantity="k = 0: entries without finite minimum",
                value=unbounded,
                relation="=",
                expected=pairs_only,
                reason="exact: the slope is 0 at infinity, whole numbers",
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
            "the proposition needs k >= 1; at k = 0, as for cross-entropy, no entry has a minimum",
            "the text prints the signs of cross-entropy's derivatives the wrong way round",
        ),
    )
