"""The two-point example: ECE is discontinuous in the prediction, smooth errors are not.

Two equally likely inputs with labels 0 and 1, predicted 1/2 - delta and 1/2 + delta.
"""

import math

import torch
from jaxtyping import Float64
from torch import Tensor

from oddkout.metrics import expected_calibration_error
from oddkout.paper.theory.statement import Check, Statement

DELTAS = (1e-1, 1e-2, 1e-3, 1e-4)
LABELS = torch.tensor([0, 1])


def predictions(delta: float) -> Float64[Tensor, "2"]:
    """Probability of label 1 at the two inputs."""
    return torch.tensor([0.5 - delta, 0.5 + delta], dtype=torch.float64)


def exact_ece(delta: float) -> float:
    """ECE by its definition, without bins: mean of |E[y | f] - f| over the values of f."""
    f = predictions(delta)
    values, which = torch.unique(f, return_inverse=True)
    return sum(
        abs(float((LABELS - f)[which == value].sum())) / len(f) for value in range(len(values))
    )


def binned_ece(delta: float) -> float:
    """ECE as the library computes it: of the more likely class, in 15 bins."""
    f = predictions(delta)
    return float(expected_calibration_error(torch.stack([1 - f, f], dim=1), LABELS))


def lipschitz_error(delta: float) -> float:
    """Smooth calibration error: the largest mean of w(f) (y - f) over 1-Lipschitz w in [-1, 1].

    A linear programme in the two values of w (Kakade and Foster 2004; Blasiok et al. 2022).
    """
    from scipy.optimize import linprog

    f = predictions(delta)
    gains = ((LABELS - f) / 2).tolist()
    apart = float(f[1] - f[0])
    answer = linprog(
        [-gain for gain in gains],
        A_ub=[[1, -1], [-1, 1]],
        b_ub=[apart, apart],
        bounds=[(-1, 1)] * 2,
    )
    return -float(answer.fun)


def smoothed_ece(delta: float, bandwidth: float, *, points: int = 20_001) -> float:
    """Integral of |mean of (y - f) K(t, f)| over t, K the Gaussian reflected into [0, 1]."""
    f = predictions(delta)
    t = torch.linspace(0, 1, points, dtype=torch.float64)[:, None]
    # Reflections at 0 and 1; further ones are negligible at bandwidths below 1/2.
    images = [2 * n + sign * f for n in range(-2, 3) for sign in (1, -1)]
    kernel = torch.stack([torch.exp(-((t - image) ** 2) / (2 * bandwidth**2)) for image in images])
    density = kernel.sum(dim=0) / (bandwidth * math.sqrt(2 * math.pi))
    residual = (density * (LABELS - f)).mean(dim=1)
    return float(torch.trapezoid(residual.abs(), t.flatten()))


def smooth_ece(delta: float) -> float:
    """Smooth ECE (Blasiok and Nakkiran 2023): the bandwidth s whose smoothed error is s."""
    from scipy.optimize import brentq

    if delta == 0:
        return 0.0
    return float(brentq(lambda s: smoothed_ece(delta, s) - s, 1e-3, 0.5, xtol=1e-10))


def two_points() -> Statement:
    """Check the example, and compute two smooth calibration errors for it."""
    exact = [exact_ece(delta) - (0.5 - delta) for delta in DELTAS]
    binned = [binned_ece(delta) - (0.5 - delta) for delta in DELTAS]
    lipschitz = [lipschitz_error(delta) - delta * (0.5 - delta) for delta in DELTAS]
    smooth = {delta: smooth_ece(delta) for delta in DELTAS}
    least = DELTAS[-1]
    # s = (1/2 - delta) erf(delta / s / sqrt(2)), far from the ends; s^2 / delta -> 1 / sqrt(2 pi).
    limit = (2 * math.pi) ** -0.25
    return Statement(
        name="Two-point example",
        statement="Predicting 1/2 has ECE 0; predicting 1/2 -+ delta has ECE 1/2 - delta, however "
        "small delta is.",
        computed=f"ECE by its definition and with 15 bins, the Lipschitz calibration error by a "
        f"linear programme, smooth ECE by its fixed point, for delta = 0 and {DELTAS}.",
        checks=(
            Check(
                quantity="ECE at delta = 0",
                value=max(exact_ece(0.0), binned_ece(0.0)),
                relation="=",
                expected=0,
            ),
            Check(
                quantity="ECE - (1/2 - delta), by definition, largest",
                value=max(map(abs, exact)),
                relation="=",
                expected=0,
                tolerance=1e-15,
                reason="rounding",
            ),
            Check(
                quantity="ECE - (1/2 - delta), 15 bins, largest",
                value=max(map(abs, binned)),
                relation="=",
                expected=0,
                tolerance=1e-15,
                reason="rounding",
            ),
            Check(
                quantity="Lipschitz error - delta (1/2 - delta), largest",
                value=max(map(abs, lipschitz)),
                relation="=",
                expected=0,
                tolerance=1e-10,
                reason="of the linear programme",
            ),
            Check(
                quantity=f"Lipschitz error at delta = {least:g}",
                value=lipschitz_error(least),
                relation="<=",
                expected=least / 2,
                reason="continuous: falls as delta / 2",
            ),
            Check(
                quantity=f"smooth ECE at delta = {least:g}",
                value=smooth[least],
                relation="<=",
                expected=0.01,
                reason="continuous: falls as sqrt(delta)",
            ),
            Check(
                quantity="smooth ECE - right side of its equation, delta = 0.01",
                value=smooth[0.01] - 0.49 * math.erf(0.01 / smooth[0.01] / math.sqrt(2)),
                relation="=",
                expected=0,
                tolerance=1e-6,
                reason="quadrature on 20,001 points; the ends are 7 bandwidths away",
            ),
            Check(
                quantity=f"smooth ECE / sqrt(delta) at delta = {least:g}",
                value=smooth[least] / math.sqrt(least),
                relation="=",
                expected=limit,
                tolerance=2e-3,
                reason="next order; the limit is (2 pi)^(-1/4)",
            ),
        ),
        remarks=("smooth ECE at " + ", ".join(f"{d:g}: {s:.4f}" for d, s in smooth.items()),),
    )
