"""Theorem 1: OKO is less certain in low-data regions.

There are three inputs and two classes. Input 0 has almost all data, with either label. Inputs 1 and
2 have a share epsilon / 2 each, always with label 1 and label 2. The model is a table
a = (a_0, a_1, a_2): its logits at input x are (0, a_x).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float64
from torch import Tensor

from oddkout.losses import OddKOutLoss, focal_loss
from oddkout.paper.theory.low_data_terms import PRINTED, Term, derived_terms, misprints, probability
from oddkout.paper.theory.statement import Check, Statement
from oddkout.sets import ClassIndex

EPSILONS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
RATE = 2 / 15  # probability of the true class at inputs 1 and 2: 2/3 + 2/15 epsilon + O(epsilon^2)
SMOOTHING = 0.1  # the paper's label smoothing

_functional: Any = torch.autograd.functional  # it has no type annotations


def expected_loss(
    a: Float64[Tensor, "3"], epsilon: float, terms: Sequence[Term] | None = None
) -> tuple[Float64[Tensor, ""], Float64[Tensor, "3"], Float64[Tensor, "3 3"]]:
    """Expected hard loss of the table a, its gradient and its Hessian."""
    terms = derived_terms() if terms is None else terms
    chances = [epsilon ** t.powers[0] * (1 - epsilon) ** t.powers[1] / 2 for t in terms]
    p = torch.tensor(chances, dtype=torch.float64)
    d = torch.tensor([t.denominator for t in terms], dtype=torch.float64)
    # -log V = log(1 + exp(s d . a)), s = 1 where class 1 is to be named and -1 where class 2 is.
    s = torch.tensor([-1.0 if any(t.numerator) else 1.0 for t in terms], dtype=torch.float64)
    z = s * (d @ a)
    slope = torch.sigmoid(z)
    curvature = slope * torch.sigmoid(-z)
    return p @ F.softplus(z), (p * s * slope) @ d, d.T @ ((p * curvature)[:, None] * d)


def minimiser(epsilon: float) -> Float64[Tensor, "3"]:
    """The table a that minimises the expected hard loss, by Newton's method from 0."""
    a = torch.zeros(3, dtype=torch.float64)
    for _ in range(50):
        _, gradient, hessian = expected_loss(a, epsilon)
        step = torch.linalg.solve(hessian, gradient)
        a = a - step
        if step.abs().max() < 1e-15:
            break
    return a


def class_1(a: Float64[Tensor, "3"]) -> Float64[Tensor, "3"]:
    """Probability of class 1 at the three inputs: softmax of (0, a)."""
    return torch.sigmoid(-a)


@dataclass(frozen=True)
class Fit:
    """A table fitted to sampled sets: probability of class 1 at each input, and standard errors."""

    class_1: Float64[Tensor, "3"]
    error: Float64[Tensor, "3"]


def fitted(epsilon: float, *, examples: int = 4000, sets: int = 200_000, seed: int = 0) -> Fit:
    """Minimise ``OddKOutLoss`` over sets that ``ClassIndex`` draws from data as in the theorem.

    The standard errors are those of an M-estimator, from the per-set gradients.
    """
    rare = round(epsilon * examples / 2)
    labels = torch.arange(examples) % 2
    x = torch.where(torch.arange(examples) < 2 * rare, labels + 1, 0)
    generator = torch.Generator().manual_seed(seed)
    drawn = ClassIndex(labels).draw_sets(k=1, sets=sets, generator=generator)
    # Sets whose members have the same inputs have the same loss: compute one of each kind.
    kinds, kind_of, counts = torch.unique(
        torch.cat([labels[drawn[:, :1]], x[drawn].sort(dim=1).values], dim=1),
        dim=0,
        return_inverse=True,
        return_counts=True,
    )
    one_of_each = drawn[
        torch.stack([(kind_of == kind).nonzero()[0, 0] for kind in range(len(kinds))])
    ]
    share: Tensor = counts.double() / sets
    criterion = OddKOutLoss(k=1, reduction="none")

    def losses(a: Tensor) -> Tensor:
        table = torch.stack([torch.zeros_like(a), a], dim=1)
        per_set: Tensor = criterion(table[x], labels, sets=one_of_each)
        return per_set

    def mean_loss(a: Tensor) -> Tensor:
        return share @ losses(a)

    a = torch.zeros(3, dtype=torch.float64)
    for _ in range(20):
        gradient, hessian = _derivatives(mean_loss, a)
        a = a - torch.linalg.solve(hessian, gradient)
    per_kind = _functional.jacobian(losses, a)
    _, hessian = _derivatives(mean_loss, a)
    inverse = torch.linalg.inv(hessian)
    spread = (share[:, None] * per_kind).T @ per_kind / sets
    chance = class_1(a)
    error = (inverse @ spread @ inverse).diagonal().sqrt() * chance * (1 - chance)
    return Fit(chance, error)


def _derivatives(function: Callable[[Tensor], Tensor], a: Tensor) -> tuple[Tensor, Tensor]:
    """Gradient and Hessian by automatic differentiation."""
    return (
        _functional.jacobian(function, a),
        _functional.hessian(function, a),
    )


def rival_confidences(steps: int = 1000) -> dict[str, float]:
    """Probability of class 1 at input 1 after gradient descent with other losses, step size 1.

    The logits at input 1 depend only on the data there, which are all of class 1 for any epsilon.
    """
    label = torch.tensor([0])
    rivals: dict[str, Callable[[Tensor], Tensor]] = {
        "cross-entropy": lambda logits: F.cross_entropy(logits, label),
        "label smoothing": lambda logits: F.cross_entropy(logits, label, label_smoothing=SMOOTHING),
        "focal loss": lambda logits: focal_loss(logits, label),
    }
    confidences = {}
    for name, loss in rivals.items():
        logits = torch.zeros(1, 2, dtype=torch.float64, requires_grad=True)
        for _ in range(steps):
            (gradient,) = torch.autograd.grad(loss(logits), logits)
            logits.data -= gradient
        confidences[name] = float(logits.detach().softmax(dim=1)[0, 0])
    return confidences


def theorem_1() -> Statement:
    """Check Theorem 1 by enumeration, Newton's method and training."""
    differences = misprints()
    at = {epsilon: minimiser(epsilon) for epsilon in EPSILONS}
    probs = {epsilon: class_1(a) for epsilon, a in at.items()}
    smallest, second = EPSILONS[-1], EPSILONS[-2]
    gaps = [float(probs[epsilon][1]) - 2 / 3 for epsilon in (second, smallest)]
    slope = math.log10(gaps[0] / gaps[1])
    points = torch.randn(100, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    from_table = max(
        abs(float(expected_loss(a, 0.3)[0] - expected_loss(a, 0.3, PRINTED)[0])) for a in points
    )
    epsilon = 0.01
    fit = fitted(epsilon)
    exact = class_1(minimiser(epsilon))
    rivals = rival_confidences()
    limits = [
        Check(
            quantity=f"class 1 at x = {x}, epsilon = {smallest:g}",
            value=float(probs[smallest][x]),
            relation="=",
            expected=limit,
            tolerance=smallest,
            reason="next term of the expansion, below epsilon",
        )
        for x, limit in enumerate((1 / 2, 2 / 3, 1 / 3))
    ]
    return Statement(
        name="Theorem 1",
        statement="OKO is less certain in low-data regions: as epsilon -> 0, the minimiser of the "
        "expected hard loss predicts [1/2, 1/2], [2/3, 1/3], [1/3, 2/3] at inputs 0, 1, 2, "
        "although inputs 1 and 2 have a single label.",
        computed="All 16 cases by enumeration of Algorithm 1; Newton's method in float64 for "
        "epsilon = 1e-1 ... 1e-6; a table fitted with OddKOutLoss at epsilon = 0.01; other losses "
        "by gradient descent on the same data.",
        checks=(
            Check(
                quantity="cases enumerated",
                value=len(derived_terms()),
                relation="=",
                expected=16,
            ),
            Check(
                quantity="total probability of the cases",
                value=float(sum(probability(t, Fraction(1, 7)) for t in derived_terms())),
                relation="=",
                expected=1,
            ),
            Check(
                quantity="printed rows that differ",
                value=len(differences),
                relation="=",
                expected=1,
                reason="exact; the remark below names the row",
            ),
            Check(
                quantity="loss from the printed p and V, difference",
                value=from_table,
                relation="=",
                expected=0,
                tolerance=1e-14,
                reason="rounding of 16 terms",
            ),
            *limits,
            Check(
                quantity="largest |class 1 at x = 0 - 1/2|, all epsilon",
                value=max(abs(float(p[0]) - 0.5) for p in probs.values()),
                relation="=",
                expected=0,
                tolerance=1e-12,
                reason="rounding; it is 1/2 at every epsilon by symmetry",
            ),
            Check(
                quantity="(class 1 at x = 1 - 2/3) / epsilon",
                value=gaps[1] / smallest,
                relation="=",
                expected=RATE,
                tolerance=1e-5,
                reason="next order, below 1 x epsilon, and rounding",
            ),
            Check(
                quantity="order of convergence in epsilon",
                value=slope,
                relation="=",
                expected=1,
                tolerance=1e-4,
                reason="next order, at epsilon = 1e-5",
            ),
            *(
                Check(
                    quantity=f"fitted class 1 at x = {x}, epsilon = {epsilon}, and {which}",
                    value=float(fit.class_1[x]),
                    relation="=",
                    expected=target,
                    tolerance=3.29 * float(fit.error[x]),
                    reason="99.9 % interval of the fit",
                )
                for x in range(3)
                for which, target in (
                    ("minimiser", float(exact[x])),
                    ("limit", (1 / 2, 2 / 3, 1 / 3)[x]),
                )
            ),
            Check(
                quantity="cross-entropy at x = 1, 1,000 steps",
                value=rivals["cross-entropy"],
                relation=">=",
                expected=0.999,
                reason="no minimiser: 1 - p falls as 1 / steps",
            ),
            Check(
                quantity="focal loss at x = 1, 1,000 steps",
                value=rivals["focal loss"],
                relation=">=",
                expected=0.95,
                reason="no minimiser: 1 - p falls as steps^(-1/3)",
            ),
            Check(
                quantity="label smoothing 0.1 at x = 1",
                value=rivals["label smoothing"],
                relation="=",
                expected=1 - SMOOTHING / 2,
                tolerance=1e-12,
                reason="rounding of a converged descent",
            ),
        ),
        remarks=(
            *(f"misprint in the table: {text}" for text in differences),
            "the rate is 2/3 + (2/15) epsilon + O(epsilon^2)",
        ),
    )
