"""Figures of the theory: functions that draw given numbers, and one that computes them."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float64
from torch import Tensor

from oddkout.paper.theory.divergence import margin_growth, toy_path
from oddkout.paper.theory.low_data import class_1, minimiser
from oddkout.paper.theory.pools import LayoutVariances, layout_variances

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which is safe for colour-blind readers; lines differ in dash, too.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "0.45"


def draw_minimisers(
    epsilons: Sequence[float], probabilities: Float64[Tensor, "epsilons 3"], ax: "Axes"
) -> "Axes":
    """Draw the probability of class 1 at the three inputs of Theorem 1 against epsilon."""
    styles = (
        (GREY, "s", "x = 0, limit 1/2"),
        (BLUE, "o", "x = 1, limit 2/3"),
        (RED, "^", "x = 2, limit 1/3"),
    )
    for x, ((colour, marker, name), limit) in enumerate(
        zip(styles, (1 / 2, 2 / 3, 1 / 3), strict=True)
    ):
        ax.axhline(limit, color=colour, linestyle=":", linewidth=1)
        ax.plot(
            epsilons, probabilities[:, x], color=colour, marker=marker, markersize=4, label=name
        )
    ax.axhline(1, color=ORANGE, linestyle="--", linewidth=1.5)
    ax.annotate("cross-entropy at x = 1", (epsilons[-1], 0.975), va="top", color="0.2")
    ax.set(
        xscale="log",
        xlabel="epsilon, share of the rare inputs",
        ylabel="probability of class 1",
        ylim=(0.2, 1.05),
    )
    ax.legend(title="OKO", loc="upper right", bbox_to_anchor=(1, 0.92))
    return ax


def draw_toy(path: Float64[Tensor, "points 2"], ax: "Axes") -> "Axes":
    """Draw contours of f(x, y) = -x - y + (y - x)^2 and a path of gradient descent."""
    low, high = float(path.min()) - 1, float(path.max()) + 1
    axis = torch.linspace(low, high, 200, dtype=torch.float64)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    ax.contour(x, y, -x - y + (y - x) ** 2, levels=25, colors=GREY, linewidths=0.5, linestyles="-")
    ax.plot(path[:, 0], path[:, 1], color=RED, marker=".", label="gradient descent")
    ax.plot(path[:1, 0], path[:1, 1], color=RED, marker="o", markersize=8, linestyle="")
    ax.axline((0, 0), slope=1, color=BLUE, linestyle="--", linewidth=1, label="valley, y = x")
    ax.set(xlabel="x", ylabel="y", xlim=(low, high), ylim=(low, high), aspect="equal")
    ax.legend(loc="lower right")
    return ax


def draw_growth(margins: Mapping[str, Sequence[float]], ax: "Axes") -> "Axes":
    """Draw the margin of the true class's logit against the steps of gradient descent."""
    styles = zip(margins.items(), ((BLUE, "-"), (ORANGE, "--"), (GREEN, "-.")), strict=True)
    for (name, values), (colour, dashes) in styles:
        steps = sorted(
            {round(10 ** (power / 20)) for power in range(20 * 6)} & set(range(len(values)))
        )
        ax.plot(
            steps,
            [values[step] for step in steps],
            color=colour,
            linestyle=dashes,
            linewidth=2,
            label=name,
        )
    ax.set(xscale="log", xlabel="steps of gradient descent", ylabel="margin a - b of the logits")
    ax.legend(loc="upper left")
    return ax


def draw_variance(variances: LayoutVariances, sets: Sequence[int], ax: "Axes") -> "Axes":
    """Draw the gradient variance of the pool layout against its number of sets."""
    values = [variances.pool(s) for s in sets]
    errors = [1.96 * variances.pool_error(s) for s in sets]
    ax.fill_between(
        sets,
        [value - error for value, error in zip(values, errors, strict=True)],
        [value + error for value, error in zip(values, errors, strict=True)],
        color=BLUE,
        alpha=0.25,
        linewidth=0,
    )
    ax.plot(sets, values, color=BLUE, marker="o", markersize=4, label="pool, S sets")
    independent = variances.cost // (variances.k + 2)
    ax.axhline(
        variances.paper, color=RED, linestyle="--", label=f"paper layout, {independent} sets"
    )
    ax.axhline(variances.pool(math.inf), color=GREY, linestyle=":", label="pool, all sets")
    ax.set(
        xscale="log",
        yscale="log",
        xlabel=f"S, sets per update ({variances.cost} examples forwarded)",
        ylabel="variance of the gradient",
    )
    ax.legend(loc="upper right")
    return ax


def figures() -> "dict[str, Figure]":
    """Compute and draw all figures, by name."""
    from matplotlib.figure import Figure

    names = ("theorem-1-minimisers", "toy-descent", "logit-growth", "layout-variance")
    drawn = {name: Figure(figsize=(4.8, 3.8), layout="constrained") for name in names}
    axes = [figure.subplots() for figure in drawn.values()]
    epsilons = [10 ** -(power / 2) for power in range(2, 13)]
    draw_minimisers(epsilons, torch.stack([class_1(minimiser(e)) for e in epsilons]), axes[0])
    draw_toy(toy_path((0, 3), rate=0.1, steps=40), axes[1])
    growth = {
        name: margin_growth(kind, classes=10, steps=100_000)
        for name, kind in (
            ("OKO, k = 1", "oko"),
            ("cross-entropy", "cross-entropy"),
            ("label smoothing 0.1", "label smoothing"),
        )
    }
    draw_growth(growth, axes[2])
    draw_variance(layout_variances(), (1, 2, 4, 8, 16, 32, 64, 128, 256, 512), axes[3])
    return drawn
