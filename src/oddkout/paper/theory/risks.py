"""The risks R_hard and R_soft of a memorised logit matrix.

A model that has memorised its training data outputs F[y] for every example of class y, so its risk
depends on the matrix F alone.
"""

import math
from collections.abc import Sequence
from itertools import combinations

import torch
from jaxtyping import Float64
from torch import Tensor

from oddkout.losses import set_loss
from oddkout.losses.set_loss import Targets
from oddkout.paper.theory.algorithm import class_sets, every_set
from oddkout.paper.theory.statement import Check, Statement
from oddkout.sets import ClassIndex


def risk(
    logits: Float64[Tensor, "classes classes"], k: int, targets: Targets = "hard"
) -> Float64[Tensor, ""]:
    """Expected OKO loss of a memorised logit matrix: a mean over the classes of all sets."""
    classes = len(logits)
    return set_loss(logits, torch.arange(classes), class_sets(classes, k), targets=targets)


def printed_risk(F: Sequence[Sequence[float]], k: int, targets: Targets = "hard") -> float:  # noqa: N803
    """The sums for R_hard and R_soft as the paper prints them, in plain arithmetic."""
    classes = range(len(F))
    total = 0.0
    for i in classes:
        for odd in combinations([c for c in classes if c != i], k):
            members = (i, i, *odd)
            summed = [sum(F[member][c] for member in members) for c in classes]
            log_sum = math.log(sum(map(math.exp, summed)))
            named = [i] if targets == "hard" else members
            total -= sum(summed[j] - log_sum for j in named)
    return total


def constant(classes: int, k: int, targets: Targets = "hard") -> int:
    """The printed sum divided by the expected loss: the constant that the paper leaves out."""
    return classes * math.comb(classes - 1, k) * (1 if targets == "hard" else k + 2)


def enumerated_risk(
    logits: Float64[Tensor, "classes classes"], labels: Sequence[int], k: int, targets: Targets
) -> float:
    """Expected loss over every set of examples that Algorithm 1 can draw from the data."""
    sets, chance = every_set(labels, k)
    y = torch.tensor(labels)
    losses = set_loss(logits[y], y, sets, targets=targets, reduction="none")
    return float(chance @ losses)


def sampled_risk(
    logits: Float64[Tensor, "classes classes"],
    labels: Sequence[int],
    k: int,
    targets: Targets,
    *,
    sets: int = 20_000,
) -> tuple[float, float]:
    """Mean loss over sampled sets, and its standard error."""
    y = torch.tensor(labels)
    drawn = ClassIndex(y).draw_sets(k=k, sets=sets, generator=torch.Generator().manual_seed(0))
    losses = set_loss(logits[y], y, drawn, targets=targets, reduction="none")
    return float(losses.mean()), float(losses.std()) / math.sqrt(sets)


def risks() -> Statement:
    """Compare the printed risks with two other computations of the expected loss, C <= 5, all k."""
    generator = torch.Generator().manual_seed(0)
    ratios, gaps, sigmas, cases = [], [], [], 0
    for classes in range(2, 6):
        labels = [
            c for c in range(classes) for _ in range(2 + c % 2)
        ]  # unequal class sizes on purpose
        logits = torch.randn(classes, classes, generator=generator, dtype=torch.float64)
        for k in range(classes):
            targets: Targets
            for targets in ("hard", "soft"):
                expected = float(risk(logits, k, targets))
                exact = enumerated_risk(logits, labels, k, targets)
                mean, error = sampled_risk(logits, labels, k, targets)
                printed = printed_risk(logits.tolist(), k, targets)
                ratios.append(abs(printed / exact / constant(classes, k, targets) - 1))
                gaps.append(abs(exact - expected))
                # With k + 1 = C all losses may be equal, and then the standard error is 0.
                sigmas.append(abs(mean - exact) / max(error, 1e-12))
                cases += 1
    return Statement(
        name="Risks R_hard and R_soft",
        statement="For a memorised logit matrix F, the expected OKO losses are proportional to the "
        "sums over pair class i and odd classes Y that the paper prints.",
        computed=f"{cases} cases: random F, C = 2 ... 5, all k from 0, hard and soft; the printed "
        "sums in plain arithmetic, Algorithm 1 enumerated example by example on data with "
        "unequal classes, and 20,000 sampled sets.",
        checks=(
            Check(
                quantity="printed sum / (expected loss x constant) - 1, largest",
                value=max(ratios),
                relation="=",
                expected=0,
                tolerance=1e-12,
                reason="rounding of up to 960 terms",
            ),
            Check(
                quantity="enumeration by class - by example, largest",
                value=max(gaps),
                relation="=",
                expected=0,
                tolerance=1e-12,
                reason="rounding",
            ),
            Check(
                quantity="sampled - enumerated, largest, in standard errors",
                value=max(sigmas),
                relation="<=",
                expected=4.1,
                reason=f"99.9 % quantile of the maximum of {cases} normal values",
            ),
        ),
        remarks=("the constant is C binom(C - 1, k) for R_hard and (k + 2) times that for R_soft",),
    )
