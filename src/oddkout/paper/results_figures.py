"""The figures of the pages of results: the same lines give the same bytes."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

from oddkout.paper.after_calibration import calibrated_value
from oddkout.paper.comparisons import PrimaryResult, primary_results
from oddkout.paper.evidence import Evidence, measure
from oddkout.paper.figures import PAPER_FIGURES, draw_paper_figure
from oddkout.paper.presets import FIVE, ONLY_HEAVY
from oddkout.paper.settings import TITLES, Setting
from oddkout.paper.variants import VARIANTS
from oddkout.report.figures import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:  # importing matplotlib is slow: only functions that draw do it
    Figure: TypeAlias = Any

# Where the figures are, in the repository.
FOLDER = "docs/results/figures"

PRIMARY_FIGURE, FEW_FIGURE = "primary-comparisons", "nll-few-examples"

_OURS, _OTHER = "#c1440e", "#4a6fa5"

# What the first picture of the README compares: methods from the bottom up, and settings.
_METHODS = (
    *("oko+la", "oko", "vanilla+ls+la", "bb+ls", "bb", "focal", "weighted"),
    *("vanilla+ls", "vanilla"),
)
_FEW = (
    Setting("mnist", "uniform", 10),
    Setting("fashion_mnist", "uniform", 10),
    Setting("mnist", "heavy-tailed", 20),
    Setting("fashion_mnist", "heavy-tailed", 20),
)


def write_results_figures(
    grid: Evidence, folder: Path, *, names: tuple[str, ...] = ()
) -> list[Path]:
    """Draw all figures that have runs; return their files.

    Args:
        grid: The runs of the protocol's grid.
        folder: Where to write; figures of earlier lines are removed from it.
        names: The figures to draw; by default all.
    """
    import matplotlib as mpl

    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    drawers: dict[str, Callable[[], Figure | None]] = {
        figure_name(one.name): partial(draw_paper_figure, one, grid) for one in PAPER_FIGURES
    }
    drawers[PRIMARY_FIGURE] = partial(primary_comparisons, primary_results(grid))
    drawers[FEW_FIGURE] = partial(few_examples, grid)
    paths = []
    # Without these, every run would write other bytes: names in the file, and the date.
    with style(), mpl.rc_context({"svg.hashsalt": "oddkout"}):
        for name in names or drawers:
            if (drawn := drawers[name]()) is not None:
                paths.append(folder / f"{name}.svg")
                drawn.savefig(paths[-1], metadata={"Date": None})
    return paths


def figure_name(number: str) -> str:
    """The name of the file of one of the paper's figures."""
    return f"figure-{number}"


def few_examples(grid: Evidence) -> Figure | None:
    """NLL of every seed with few examples, as trained, and the mean after calibration.

    None until every method has all seeds.
    """
    from matplotlib.figure import Figure as Canvas

    rows = {
        (setting, name): list(grid.by_seed([setting], name, measure("nll")).values())
        for setting in _FEW
        for name in _METHODS
        if setting.distribution != "uniform" or name not in ONLY_HEAVY
    }
    if any(len(values) < len(FIVE) for values in rows.values()):
        return None
    figure = Canvas(figsize=(8.4, 2.9), layout="constrained")
    axes = figure.subplots(1, len(_FEW), sharey=True)
    calibrated = calibrated_value("nll", "adjusted")
    for ax, setting in zip(axes, _FEW, strict=True):
        for row, name in enumerate(_METHODS):
            if (values := rows.get((setting, name))) is None:
                continue
            colour = _OURS if name.startswith("oko") else _OTHER
            ax.plot(values, [row] * len(values), "o", color=colour, alpha=0.5, markersize=4)
            ax.plot([fmean(values)], [row], "|", color=colour, markersize=13, markeredgewidth=2)
            mean = grid.mean([setting], name, calibrated)
            assert mean is not None, "every line of the grid has a digest"
            ax.plot([mean.mean], [row], "D", color="black", markersize=3.5)
        kind = "uniform, 10" if setting.distribution == "uniform" else "heavy-tailed, 20"
        ax.set_title(f"{TITLES[setting.data]}\n{kind} per class")
        ax.set_xlabel("NLL")
        ax.grid(axis="y", linewidth=0.4)
    axes[0].set_yticks(range(len(_METHODS)), [VARIANTS[name].title for name in _METHODS])
    return figure


def primary_comparisons(results: list[PrimaryResult]) -> Figure | None:
    """Every seed of the primary comparisons, and the mean with its interval; none without runs."""
    from matplotlib.figure import Figure as Canvas

    if results[0].interval is None:
        return None
    figure = Canvas(figsize=(8.4, 3.2), layout="constrained")
    axes = figure.subplots(1, 2)
    for ax, metric, label in zip(
        axes, ("accuracy", "nll"), ("accuracy, difference in points", "NLL, ratio"), strict=True
    ):
        own = [result for result in results if result.comparison.metric == metric][::-1]
        shown = (lambda value: 100 * value) if metric == "accuracy" else math.exp
        for row, result in enumerate(own):
            values = [shown(value) for value in result.values.values()]
            assert result.interval is not None, "all are performed, or none is decided"
            low, mean, high = (
                shown(value)
                for value in (result.interval.low, result.interval.mean, result.interval.high)
            )
            ax.plot([low, high], [row, row], "-|", color=_OTHER, linewidth=1.5, markersize=10)
            ax.plot([mean], [row], "D", color="black", markersize=3.5)
            ax.plot(values, [row] * len(values), "o", color=_OURS, alpha=0.5, markersize=4)
        ax.axvline(shown(0), color="0.6", linestyle=":", marker="")
        sign = "-" if metric == "accuracy" else "/"
        names = []
        for one in (result.comparison for result in own):
            first, second = VARIANTS[one.first].title, VARIANTS[one.second].title
            sizes = ", 500 and more" if one.is_large else ""
            names.append(f"{first} {sign} {second}\n{one.distribution}{sizes}")
        ax.set_yticks(range(len(own)), names, fontsize=6)
        ax.set_xlabel(label)
    return figure
