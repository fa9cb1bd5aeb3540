"""Two lemmas on the sign and the mean of relative cross-entropy, RC(y, q) = H(y, q) - H(q)."""

from collections.abc import Sequence
from fractions import Fraction
from random import Random

import torch
from jaxtyping import Float64
from torch import Tensor

from oddkout.paper.theory.lbfgs import minimise
from oddkout.paper.theory.statement import Check, Statement


def relative_cross_entropy(log_probs: Float64[Tensor, "*rows classes"]) -> Tensor:
    """RC with every class as the hard label: -log q_y minus the entropy of q."""
    entropy = -(log_probs.exp() * log_probs).sum(dim=-1, keepdim=True)
    return -log_probs - entropy


def prediction(
    share: Float64[Tensor, " starts"], rest: Float64[Tensor, "starts others"], *, cap: float
) -> Float64[Tensor, "starts classes"]:
    """Log-probabilities with less than ``cap`` on class 0, from unconstrained parameters."""
    first = cap * torch.sigmoid(share)
    others = torch.log1p(-first)[:, None] + rest.log_softmax(dim=1)
    return torch.cat([first.log()[:, None], others], dim=1)


def least_relative_cross_entropy(
    classes: int, *, cap: float, starts: int = 32, steps: int = 100
) -> float:
    """The lowest RC of class 0 that L-BFGS finds among predictions with q_0 <= ``cap``."""
    generator = torch.Generator().manual_seed(0)
    share = 3 * torch.randn(starts, generator=generator, dtype=torch.float64)
    rest = 3 * torch.randn(starts, classes - 1, generator=generator, dtype=torch.float64)

    def values() -> Tensor:
        return relative_cross_entropy(prediction(share, rest, cap=cap))[:, 0]

    minimise(lambda: values().sum(), [share, rest], steps=steps)
    return float(values().min())


def log_coefficients(
    prediction: Sequence[Fraction], labels: Sequence[Sequence[Fraction]]
) -> list[Fraction]:
    """Mean RC over inputs with one prediction q, as the coefficients of log q_1 ... log q_C.

    Args:
        prediction: The probabilities q, the same for all inputs.
        labels: True class probabilities of every input; inputs are equally likely.
    """
    observed = [sum(column) / Fraction(len(labels)) for column in zip(*labels, strict=True)]
    # H(y, q) contributes -P(y = j) to log q_j, and -H(q) contributes q_j.
    return [q - p for q, p in zip(prediction, observed, strict=True)]


def calibrated_inputs(random: Random, classes: int) -> tuple[list[Fraction], list[list[Fraction]]]:
    """A prediction and two inputs; it is calibrated on their average, but on neither alone."""
    counts = [random.randint(2, 9) for _ in range(classes)]
    q = [Fraction(count, sum(counts)) for count in counts]
    tilt = Fraction(1, sum(counts))
    one = [q[0] + tilt, q[1] - tilt, *q[2:]]
    other = [q[0] - tilt, q[1] + tilt, *q[2:]]
    return q, [one, other]


def excess_confidence() -> Statement:
    """Check both lemmas: search for a counterexample, and compute an exact expectation."""
    some_classes = (2, 3, 4, 6, 10)
    within = {c: least_relative_cross_entropy(c, cap=1 / c) for c in some_classes}
    beyond = {c: least_relative_cross_entropy(c, cap=1.5 / c) for c in some_classes}
    random = Random(0)
    groups = [calibrated_inputs(random, c) for c in some_classes for _ in range(20)]
    coefficients = [value for q, labels in groups for value in log_coefficients(q, labels)]
    off = [value for q, labels in groups for value in log_coefficients(q, labels[:1])]
    means = []
    for q, labels in groups:
        log_q = torch.tensor([float(value) for value in q], dtype=torch.float64).log()
        true = torch.tensor([[float(p) for p in row] for row in labels], dtype=torch.float64)
        means.append(abs(float((true @ relative_cross_entropy(log_q)).mean())))
    return Statement(
        name="Lemmas on relative cross-entropy",
        statement="For a hard label y, RC(y, q) = H(y, q) - H(q) >= 0 wherever q_y <= 1/C; and "
        "under perfect calibration the mean RC is 0.",
        computed="The lowest RC that L-BFGS finds with q_y <= 1/C, C = 2, 3, 4, 6, 10, 32 random "
        "starts each; the mean RC of 100 predictions that are calibrated on average, in fractions.",
        checks=(
            Check(
                quantity="lowest RC found with q_y <= 1/C",
                value=min(within.values()),
                relation=">=",
                expected=0,
                tolerance=1e-12,
                reason="rounding of sums near log 10",
            ),
            Check(
                quantity="the same, largest over C",
                value=max(within.values()),
                relation="<=",
                expected=1e-3,
                reason="the search reaches the bound, at q uniform",
            ),
            Check(
                quantity="lowest RC found with q_y <= 1.5/C, largest over C",
                value=max(beyond.values()),
                relation="<=",
                expected=-1e-2,
                reason="counterexamples: 1/C cannot be raised",
            ),
            Check(
                quantity="largest coefficient of a log q_j in the mean RC",
                value=float(max(map(abs, coefficients))),
                relation="=",
                expected=0,
                reason="exact: fractions",
            ),
            Check(
                quantity="the same for miscalibrated inputs",
                value=float(max(map(abs, off))),
                relation=">=",
                expected=0.01,
                reason="so the check can fail",
            ),
            Check(
                quantity="mean RC in float64, largest",
                value=max(means),
                relation="=",
                expected=0,
                tolerance=1e-14,
                reason="rounding",
            ),
        ),
        remarks=(
            "calibration in the weak sense, E[y | q(x) = q] = q, is enough; the labels need not "
            "follow q at any single input",
        ),
    )
