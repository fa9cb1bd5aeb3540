"""The 16 cases of Theorem 1, as the paper prints them and as Algorithm 1 gives them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product


@dataclass(frozen=True)
class Term:
    """One case of the expected loss, -p log V.

    Attributes:
        labels: y_1, y_2, y_3.
        inputs: x_1, x_2, x_3.
        powers: (m, n) for the probability p = epsilon^m (1 - epsilon)^n / 2.
        numerator: c for V = exp(c . a) / (exp(0) + exp(d . a)).
        denominator: d in the same.
    """

    labels: tuple[int, int, int]
    inputs: tuple[int, int, int]
    powers: tuple[int, int]
    numerator: tuple[int, int, int]
    denominator: tuple[int, int, int]


# The table "Terms in expectation" of the paper's appendix, row by row as printed.
PRINTED = (
    Term((1, 1, 2), (0, 0, 0), (0, 3), (0, 0, 0), (3, 0, 0)),
    Term((2, 2, 1), (0, 0, 0), (0, 3), (3, 0, 0), (3, 0, 0)),
    Term((1, 1, 2), (0, 0, 2), (1, 2), (0, 0, 0), (2, 0, 1)),
    Term((1, 1, 2), (1, 0, 0), (1, 2), (0, 0, 0), (2, 1, 0)),
    Term((1, 1, 2), (0, 1, 0), (1, 2), (0, 0, 0), (2, 1, 0)),
    Term((2, 2, 1), (0, 0, 1), (1, 2), (2, 1, 0), (2, 1, 0)),
    Term((2, 2, 1), (2, 0, 0), (1, 2), (2, 0, 1), (2, 0, 1)),
    Term((2, 2, 1), (0, 2, 0), (1, 2), (2, 0, 1), (2, 0, 1)),
    Term((1, 1, 2), (1, 1, 0), (2, 1), (0, 0, 0), (1, 2, 0)),
    Term((1, 1, 2), (1, 0, 2), (2, 1), (0, 0, 0), (1, 1, 1)),
    Term((1, 1, 2), (0, 1, 2), (2, 1), (0, 0, 0), (1, 1, 1)),
    Term((2, 2, 1), (2, 2, 0), (2, 1), (1, 0, 2), (1, 0, 2)),
    Term((2, 2, 1), (2, 0, 1), (2, 1), (1, 1, 1), (1, 1, 1)),
    Term((2, 2, 1), (2, 1, 0), (2, 1), (1, 1, 1), (1, 1, 1)),
    Term((1, 1, 2), (1, 1, 2), (3, 0), (0, 0, 0), (0, 2, 1)),
    Term((2, 2, 1), (2, 2, 1), (3, 0), (0, 1, 2), (0, 1, 2)),
)


def proportions(epsilon: Fraction) -> dict[tuple[int, int], Fraction]:
    """Proportion of every (input, label) in the data: table "PMF for Theorem 1"."""
    common, rare = (1 - epsilon) / 2, epsilon / 2
    return {(0, 1): common, (0, 2): common, (1, 1): rare, (2, 2): rare}


def derived_terms() -> tuple[Term, ...]:
    """The cases of Algorithm 1 with k = 1, by enumeration."""
    terms = []
    for pair, odd in ((1, 2), (2, 1)):
        labels = (pair, pair, odd)
        choices = [[x for x, y in proportions(Fraction(1, 2)) if y == label] for label in labels]
        for first, second, third in product(*choices):
            inputs = (first, second, third)
            summed = (inputs.count(0), inputs.count(1), inputs.count(2))
            numerator = summed if pair == 2 else (0, 0, 0)  # logits are (0, a): class 2 scores a
            powers = (3 - summed[0], summed[0])
            terms.append(Term(labels, inputs, powers, numerator, summed))
    return tuple(terms)


def probability(term: Term, epsilon: Fraction) -> Fraction:
    """Probability of a case under Algorithm 1: first the pair class, then inputs given labels."""
    data = proportions(epsilon)
    chance = Fraction(1, 2)
    for x, y in zip(term.inputs, term.labels, strict=True):
        of_label = sum(share for (_, label), share in data.items() if label == y)
        chance *= data.get((x, y), Fraction(0)) / of_label
    return chance


def misprints(printed: Sequence[Term] = PRINTED) -> list[str]:
    """The differences between a printed table and the enumeration, in words."""
    derived = {(term.labels, term.inputs): term for term in derived_terms()}
    missing = [key for key in derived if key not in {(row.labels, row.inputs) for row in printed}]
    differences = []
    for number, row in enumerate(printed, start=1):
        right = derived.get((row.labels, row.inputs))
        if right is None:
            candidates = [derived[key] for key in missing if key[0] == row.labels]
            right = min(candidates, key=lambda term: abs(term.powers[0] - row.powers[0]))
            differences.append(
                f"row {number} prints x = {row.inputs} with y = {row.labels}, which cannot occur; "
                f"it is x = {right.inputs}"
            )
        # Two polynomials of degree 3 are equal if they agree at four points.
        for epsilon in map(Fraction, ("1/5", "2/5", "3/5", "4/5")):
            m, n = row.powers
            if epsilon**m * (1 - epsilon) ** n / 2 != probability(right, epsilon):
                differences.append(
                    f"row {number}: epsilon has powers {right.powers}, not {row.powers}"
                )
                break
        if (row.numerator, row.denominator) != (right.numerator, right.denominator):
            differences.append(
                f"row {number}: V has exponents {right.numerator}, {right.denominator}, not "
                f"{row.numerator}, {row.denominator}"
            )
    return differences
