"""Lemma on shift invariance: constants added to vectors do not change softmax of their sum."""

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import torch

from oddkout.losses import set_loss
from oddkout.paper.theory.statement import Check, Statement


def grounded(vectors: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """Every vector minus its own first entry."""
    return [[value - vector[0] for value in vector] for vector in vectors]


def weighted_sum(
    weights: Sequence[Fraction], vectors: Sequence[Sequence[Fraction]]
) -> list[Fraction]:
    """The weighted sum of the vectors."""
    columns = zip(*vectors, strict=True)
    return [
        sum((w * value for w, value in zip(weights, column, strict=True)), Fraction(0))
        for column in columns
    ]


def shift_invariance(cases: int = 200) -> Statement:
    """Check the lemma: the sums in fractions, softmax and the loss in float64."""
    random = Random(0)
    uneven, first, gaps = Fraction(0), Fraction(0), []
    for _ in range(cases):
        members, classes = random.randint(1, 6), random.randint(2, 8)
        vectors = [
            [Fraction(random.randint(-400, 400), 100) for _ in range(classes)]
            for _ in range(members)
        ]
        weights = [Fraction(random.randint(-200, 200), 100) for _ in range(members)]
        plain, shifted = (weighted_sum(weights, v) for v in (vectors, grounded(vectors)))
        difference = [p - q for p, q in zip(plain, shifted, strict=True)]
        uneven = max(uneven, max(difference) - min(difference))
        first = max([first, *(abs(vector[0]) for vector in grounded(vectors))])
        softmaxes = [
            torch.tensor([float(value) for value in summed], dtype=torch.float64).softmax(dim=0)
            for summed in (plain, shifted)
        ]
        gaps.append(float((softmaxes[0] - softmaxes[1]).abs().max()))

    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(6, 3, generator=generator, dtype=torch.float64)
    constants = torch.randn(6, 1, generator=generator, dtype=torch.float64)
    labels, sets = torch.tensor([0, 0, 1, 1, 2, 2]), torch.tensor([[0, 1, 2], [2, 3, 5], [4, 5, 0]])
    losses = [
        set_loss(values, labels, sets, reduction="none") for values in (logits, logits + constants)
    ]
    return Statement(
        name="Lemma on shift invariance",
        statement="Any vectors can be replaced by vectors whose first entry is 0 without changing "
        "the softmax of any weighted sum of them.",
        computed=f"{cases} random families of 1 to 6 vectors with real weights, in fractions, and "
        "their softmax in float64; set_loss after a different constant is added to every example.",
        checks=(
            Check(
                quantity="spread of sum - shifted sum over the classes",
                value=float(uneven),
                relation="=",
                expected=0,
                reason="exact: fractions; the sums differ by one constant",
            ),
            Check(
                quantity="largest first entry of a shifted vector",
                value=float(first),
                relation="=",
                expected=0,
                reason="exact: fractions",
            ),
            Check(
                quantity="softmax of the two sums, largest difference",
                value=max(gaps),
                relation="=",
                expected=0,
                tolerance=1e-14,
                reason="rounding of logits up to 50",
            ),
            Check(
                quantity="set_loss with and without constants, difference",
                value=float((losses[0] - losses[1]).abs().max()),
                relation="=",
                expected=0,
                tolerance=1e-14,
                reason="rounding",
            ),
        ),
    )
