"""The paper's figures, drawn from runs and numbered as in the paper.

Figure 6 belongs to the theory: see ``oddkout.paper.theory.figures``.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from oddkout.paper.evidence import Evidence
from oddkout.paper.panels import (
    Panel,
    PanelData,
    by_size,
    entropy_panel,
    errors,
    mean_entropies,
    pairs,
    reliability_panel,
)
from oddkout.paper.settings import DISTRIBUTIONS, TITLES, PaperDistribution
from oddkout.paper.variants import VARIANTS
from oddkout.report.figures import (
    draw_cross_entropy_against_entropy,
    draw_ece_against_error,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
else:  # importing matplotlib is slow: only functions that draw do it
    Axes: TypeAlias = Any
    Figure: TypeAlias = Any

_BASELINES = ("vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls")
_METHODS = ("oko", *_BASELINES)
_CALIBRATED = (*_METHODS, "bb+ts")
_ODD_CLASSES = ("oko", "pair", "oko-k1", "oko-k2", "oko-k3")
_TARGETS = ("oko", "oko-k1", "oko-k2", "oko-k3", "oko-soft", "oko-soft-k2", "oko-soft-k3")
_ENTROPIES = ("oko", "vanilla", "bb", "bb+ls", "bb+ts")


@dataclass(frozen=True, kw_only=True)
class PaperFigure:
    """A figure of the paper.

    Attributes:
        name: Its number, which is part of its file name.
        title: Its caption.
        variants: The variants to draw.
        panel: Draws one panel.
        distributions: Rows of panels.
        datasets: Columns of panels.
        needs_digest: Whether it needs the digest of the predictions.
        is_split: Whether every variant has its own panel.
    """

    name: str
    title: str
    variants: tuple[str, ...]
    panel: Panel
    distributions: tuple[PaperDistribution, ...] = DISTRIBUTIONS
    datasets: tuple[str, ...] = tuple(TITLES)
    needs_digest: bool = False
    is_split: bool = False


def draw_paper_figure(figure: PaperFigure, evidence: Evidence) -> Figure | None:
    """Draw the panels of a figure that have runs; return none if no panel has."""
    from matplotlib.figure import Figure as Canvas

    rows = panels_of(figure, evidence)
    if not rows:
        return None
    if figure.is_split:
        panels = [replace(row, variants=[variant]) for row in rows for variant in row.variants]
        columns = max(len(row.variants) for row in rows)
    else:
        panels = rows
        columns = max(Counter(row.distribution for row in rows).values())
    lines = -(-len(panels) // columns)
    canvas = Canvas(figsize=(max(3.4, 2.7 * columns), 2.5 * lines + 0.6))
    axes = canvas.subplots(lines, columns, squeeze=False)
    for ax, panel_data in zip(axes.flat, panels, strict=False):
        title = f"{TITLES[panel_data.data]}, {panel_data.distribution}"
        if figure.is_split:
            title += f"\n{VARIANTS[panel_data.variants[0]].title}"
        else:
            _colour(ax, panel_data.variants, order=figure.variants)
        figure.panel(panel_data, ax)
        ax.set_title(title)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    if not figure.is_split:
        _share_legend(canvas, list(axes.flat[: len(panels)]))
    return canvas


def panels_of(figure: PaperFigure, evidence: Evidence) -> list[PanelData]:
    """The data of all panels that have runs; of all variants together, if a figure splits them."""
    return [
        row
        for distribution in figure.distributions
        for data in figure.datasets
        if (row := _panel_data(figure, evidence, data, distribution)).variants
    ]


def save_paper_figures(evidence: Evidence, folder: Path) -> tuple[list[Path], dict[str, str]]:
    """Write all figures as PNG and SVG.

    Returns:
        The files written, and for each figure that could not be drawn, by name, the reason.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths, absent = [], {}
    with style():
        for figure in PAPER_FIGURES:
            drawn = draw_paper_figure(figure, evidence)
            if drawn is None:
                needs = "runs with predictions" if figure.needs_digest else "runs"
                absent[figure.name] = f"it needs {needs}, and there are none"
                continue
            for ending in ("png", "svg"):
                paths.append(folder / f"figure-{figure.name}.{ending}")
                drawn.savefig(paths[-1], metadata={"Date": None} if ending == "svg" else None)
                drawn.set_layout_engine("none")  # keep the layout: computing it again is slow
    return paths, absent


def _panel_data(
    figure: PaperFigure, evidence: Evidence, data: str, distribution: PaperDistribution
) -> PanelData:
    """The data of a panel: variants with runs, and with digests if the figure needs them."""
    whole = PanelData(evidence, data, distribution, figure.variants)
    variants = [
        variant
        for variant in figure.variants
        if any(run.extras or not figure.needs_digest for run in whole.runs(variant))
    ]
    own = replace(whole, variants=variants)
    if figure.is_split:
        return own
    # A method without any other at the same size compares nothing.
    return replace(own, variants=[variant for variant in variants if own.compared(variant)])


def _colour(ax: Axes, variants: Sequence[str], *, order: Sequence[str]) -> None:
    """Give each variant the same colour in all panels, whichever variants a panel lacks."""
    import matplotlib as mpl

    styles = list(mpl.rcParams["axes.prop_cycle"])
    chosen = [styles[order.index(name) % len(styles)] for name in variants]
    ax.set_prop_cycle(
        color=[entry["color"] for entry in chosen], marker=[entry["marker"] for entry in chosen]
    )


def _share_legend(canvas: Figure, axes: Sequence[Axes]) -> None:
    """One legend for all panels, below them."""
    handles: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
        if (legend := ax.get_legend()) is not None:
            legend.remove()
    columns = max(2, int(canvas.get_figwidth() / 1.35))
    canvas.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=columns)


_CE_H = "Mean cross-entropy against mean entropy"
_MNIST, _CIFAR = ("mnist", "fashion_mnist", "digits"), ("cifar10", "cifar100")

PAPER_FIGURES = (
    PaperFigure(
        name="1b",
        title="ECE against classification error",
        variants=_CALIBRATED,
        panel=pairs(draw_ece_against_error, errors),
    ),
    PaperFigure(
        name="2",
        title="Accuracy by number of training examples",
        variants=_METHODS,
        panel=by_size("accuracy"),
    ),
    PaperFigure(
        name="3",
        title="Reliability, uniform classes",
        variants=_CALIBRATED,
        panel=reliability_panel,
        distributions=("uniform",),
        needs_digest=True,
    ),
    PaperFigure(
        name="4",
        title="Entropies of correct and wrong predictions, heavy-tailed classes",
        variants=_ENTROPIES,
        panel=entropy_panel,
        distributions=("heavy-tailed",),
        datasets=_MNIST,
        needs_digest=True,
        is_split=True,
    ),
    PaperFigure(
        name="5",
        title=_CE_H,
        variants=_CALIBRATED,
        panel=pairs(draw_cross_entropy_against_entropy, mean_entropies),
    ),
    PaperFigure(
        name="7",
        title="Reliability, heavy-tailed classes",
        variants=_CALIBRATED,
        panel=reliability_panel,
        distributions=("heavy-tailed",),
        needs_digest=True,
    ),
    PaperFigure(
        name="8",
        title="Entropies of correct and wrong predictions, heavy-tailed classes",
        variants=_ENTROPIES,
        panel=entropy_panel,
        distributions=("heavy-tailed",),
        datasets=_CIFAR,
        needs_digest=True,
        is_split=True,
    ),
    PaperFigure(
        name="9",
        title="Entropies of correct and wrong predictions, uniform classes",
        variants=_ENTROPIES,
        panel=entropy_panel,
        distributions=("uniform",),
        needs_digest=True,
        is_split=True,
    ),
    PaperFigure(
        name="10",
        title="ECE by number of training examples",
        variants=_CALIBRATED,
        panel=by_size("ece"),
    ),
    PaperFigure(
        name="11",
        title="Accuracy for different k",
        variants=_ODD_CLASSES,
        panel=by_size("accuracy"),
    ),
    PaperFigure(
        name="12",
        title="ECE for different k",
        variants=_ODD_CLASSES,
        panel=by_size("ece"),
    ),
    PaperFigure(
        name="13",
        title=f"{_CE_H} for different k",
        variants=_ODD_CLASSES,
        panel=pairs(draw_cross_entropy_against_entropy, mean_entropies),
    ),
    PaperFigure(
        name="14",
        title="Accuracy with hard and with soft targets",
        variants=_TARGETS,
        panel=by_size("accuracy"),
    ),
    PaperFigure(
        name="15",
        title="ECE with hard and with soft targets",
        variants=_TARGETS,
        panel=by_size("ece"),
    ),
    PaperFigure(
        name="16",
        title=f"{_CE_H} with hard and with soft targets",
        variants=_TARGETS,
        panel=pairs(draw_cross_entropy_against_entropy, mean_entropies),
    ),
)
