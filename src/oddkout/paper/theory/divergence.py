"""Proposition on divergence: from a symmetric start, the logits grow without bound.

F(a, b) has a on the diagonal and b elsewhere. Up to a constant, the logits of a set sum to 2 d for
the pair class, d for each odd class and 0 for the others, with d = a - b.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float64
from torch import Tensor

from oddkout.checks import Number
from oddkout.paper.theory.risks import risk
from oddkout.paper.theory.statement import Check, Statement

Loss = Callable[[Tensor], Tensor]


def symmetric(a: Number, b: Number, classes: int) -> Float64[Tensor, "classes classes"]:
    """F(a, b): a on the diagonal, b elsewhere."""
    logits = torch.full((classes, classes), float(b), dtype=torch.float64)
    return logits.fill_diagonal_(a)


def slopes(a: Number, b: Number, *, classes: int, k: int) -> tuple[float, float]:
    """The paper's derivatives of one summand of R(a, b) = log softmax, by a and by b."""
    pair, odd = math.exp(2 * a + b * k), k * math.exp(a + b * (k + 1))
    other = (classes - k - 1) * math.exp((k + 2) * b)
    total = pair + odd + other
    by_a = 2 - (2 * pair + odd) / total
    by_b = k - (k * pair + (k + 1) * odd + (k + 2) * other) / total
    return by_a, by_b


@dataclass(frozen=True)
class Descent:
    """Gradient descent on all entries of F, from F(0, 0).

    Attributes:
        diagonal: Mean diagonal entry, at the start and after each step.
        off_diagonal: Mean of the other entries, likewise.
        asymmetry: Largest distance of an entry from its mean, over all steps.
    """

    diagonal: tuple[float, ...]
    off_diagonal: tuple[float, ...]
    asymmetry: float


def descent(loss: Loss, *, classes: int, steps: int, rate: Number = 1.0) -> Descent:
    """Gradient descent on a loss of F with a fixed step size."""
    logits = symmetric(0, 0, classes).requires_grad_()
    is_diagonal = torch.eye(classes, dtype=torch.bool)
    diagonal, off_diagonal, asymmetry = [0.0], [0.0], 0.0
    for _ in range(steps):
        (gradient,) = torch.autograd.grad(loss(logits), logits)
        with torch.no_grad():
            logits -= rate * gradient
            a, b = logits[is_diagonal].mean(), logits[~is_diagonal].mean()
            spread = (logits - torch.where(is_diagonal, a, b)).abs().max()
        diagonal.append(float(a))
        off_diagonal.append(float(b))
        asymmetry = max(asymmetry, float(spread))
    return Descent(tuple(diagonal), tuple(off_diagonal), asymmetry)


def cross_entropy(logits: Tensor, smoothing: float = 0.0) -> Tensor:
    """Cross-entropy risk of a memorised logit matrix."""
    return F.cross_entropy(logits, torch.arange(len(logits)), label_smoothing=smoothing)


def margin_growth(
    kind: str, *, classes: int, steps: int, rate: Number = 1.0, smoothing: float = 0.1
) -> list[float]:
    """The margin d = a - b after each step of the same descent, computed in one dimension.

    On F(a, b) the risks depend on d alone. A step on all entries of F changes d by the rate times
    -risk'(d) / (C - 1).

    Args:
        kind: ``"oko"`` (k = 1, hard), ``"cross-entropy"`` or ``"label smoothing"``.
        classes: Number of classes C.
        steps: Number of steps.
        rate: Step size.
        smoothing: Amount of label smoothing.
    """
    d, margins = 0.0, [0.0]
    for _ in range(steps):
        if kind == "oko":
            odd, other = math.exp(-d), (classes - 2) * math.exp(-2 * d)
            push = (odd + 2 * other) / (1 + odd + other)
        else:
            wrong = (classes - 1) * math.exp(-d)
            push = wrong / (1 + wrong)
            if kind == "label smoothing":
                push -= smoothing * (classes - 1) / classes
        d += rate * push / (classes - 1)
        margins.append(d)
    return margins


def toy_path(
    start: tuple[Number, Number], *, rate: float, steps: int
) -> Float64[Tensor, "points 2"]:
    """Gradient descent on the paper's toy example, f(x, y) = -x - y + (y - x)^2."""
    x, y = float(start[0]), float(start[1])
    points = [(x, y)]
    for _ in range(steps):
        pull = 2 * (y - x)
        x, y = x + rate * (1 + pull), y + rate * (1 - pull)
        points.append((x, y))
    return torch.tensor(points, dtype=torch.float64)


def _slope_gap() -> float:
    """Largest difference between closed-form and automatic derivatives."""
    generator = torch.Generator().manual_seed(0)
    worst = 0.0
    for classes in range(2, 8):
        for k in range(classes):
            a, b = torch.randn(2, generator=generator, dtype=torch.float64).tolist()
            logits = symmetric(a, b, classes).requires_grad_()
            (gradient,) = torch.autograd.grad(-risk(logits, k), logits)
            by_a = float(gradient.diagonal().sum())
            by_b = float(gradient.sum()) - by_a
            closed = slopes(a, b, classes=classes, k=k)
            worst = max(worst, abs(by_a - closed[0]), abs(by_b - closed[1]))
    return worst


def divergence(*, classes: int = 5, k: int = 1) -> Statement:
    """Check the proposition by descent on F, and its derivatives, its speed and the toy example."""
    path = descent(lambda logits: risk(logits, k), classes=classes, steps=400)
    growing = torch.tensor(path.diagonal).diff()
    falling = torch.tensor(path.off_diagonal).diff()
    margin = [a - b for a, b in zip(path.diagonal, path.off_diagonal, strict=True)]
    short = margin_growth("oko", classes=classes, steps=400)
    signs = [
        sign
        for c in range(2, 8)
        for j in range(1, c)
        for d in (-8, -1, 0, 1, 8)
        for sign in (slopes(d, 0, classes=c, k=j)[0], -slopes(d, 0, classes=c, k=j)[1])
    ]
    steps = 100_000
    growth = {
        kind: margin_growth(kind, classes=classes, steps=steps)
        for kind in ("oko", "cross-entropy", "label smoothing")
    }
    lag = growth["cross-entropy"][-1] - growth["oko"][-1]
    decade = growth["oko"][-1] - growth["oko"][steps // 10]
    toy = toy_path((0, 3), rate=0.05, steps=200)
    across = [3 * (1 - 4 * 0.05) ** step for step in range(201)]
    along = [3 + 2 * 0.05 * step for step in range(201)]
    closed = torch.tensor([along, across], dtype=torch.float64).T
    rotated = torch.stack([toy.sum(dim=1), toy[:, 1] - toy[:, 0]], dim=1)
    return Statement(
        name="Proposition on divergence",
        statement="Gradient descent on R_hard from a symmetric start stays in the matrices F(a, b) "
        "and drives a to infinity and b to minus infinity.",
        computed=f"400 steps on all entries of F (C = {classes}, k = {k}, float64); the paper's "
        "derivatives against automatic ones for C = 2 ... 7 and all k; 100,000 steps in the margin "
        "d = a - b; the toy f(x, y) = -x - y + (y - x)^2.",
        checks=(
            Check(
                quantity="largest distance of F from F(a, b), 400 steps",
                value=path.asymmetry,
                relation="=",
                expected=0,
                tolerance=1e-13,
                reason="rounding, 400 steps",
            ),
            Check(
                quantity="smallest step of a",
                value=float(growing.min()),
                relation=">=",
                expected=1e-5,
                reason="a must grow in every step",
            ),
            Check(
                quantity="largest step of b",
                value=float(falling.max()),
                relation="<=",
                expected=-1e-6,
                reason="b must fall in every step",
            ),
            Check(
                quantity="closed-form - automatic derivatives, largest",
                value=_slope_gap(),
                relation="=",
                expected=0,
                tolerance=1e-13,
                reason="rounding",
            ),
            Check(
                quantity="smallest dR/da and -dR/db, 210 cases",
                value=min(signs),
                relation=">=",
                expected=1e-8,
                reason="must be positive; about k exp(-d), d up to 8",
            ),
            Check(
                quantity="descent in F - descent in d, largest",
                value=max(abs(p - q) for p, q in zip(margin, short, strict=True)),
                relation="=",
                expected=0,
                tolerance=1e-12,
                reason="rounding, 400 steps",
            ),
            Check(
                quantity="growth of d from 10^4 to 10^5 steps",
                value=decade,
                relation="=",
                expected=math.log(10),
                tolerance=0.02,
                reason="d = log(steps) + const + o(1), unbounded",
            ),
            Check(
                quantity="d of cross-entropy - d of OKO, 10^5 steps",
                value=lag,
                relation="=",
                expected=math.log((classes - 1) / k),
                tolerance=0.02,
                reason="o(1); steps of k and (C - 1) times exp(-d)",
            ),
            Check(
                quantity="label smoothing 0.1: d, 10^5 steps",
                value=growth["label smoothing"][-1],
                relation="=",
                expected=math.log(1 + classes * 0.9 / 0.1),
                tolerance=1e-9,
                reason="rounding of a converged descent",
            ),
            Check(
                quantity="toy: path - closed form, largest",
                value=float((rotated - closed).abs().max()),
                relation="=",
                expected=0,
                tolerance=1e-12,
                reason="rounding, 200 steps",
            ),
        ),
        remarks=(
            "at k = C - 1 R_hard on F(a, b) is cross-entropy itself: the lag log((C - 1) / k) is 0",
            "x + y of the toy grows by twice the step size per step, as without the square: the "
            "square bends the path but does not slow the divergence",
        ),
    )
