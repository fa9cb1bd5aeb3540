"""The paper's figures from runs, numbered as in the compiled paper; figure 6 is of the theory."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from oddkout.checks import Number
from oddkout.experiments.evidence import Evidence, measure
from oddkout.experiments.run import Run
from oddkout.experiments.settings import DISTRIBUTIONS, TITLES, Distribution, Setting
from oddkout.experiments.variants import VARIANTS
from oddkout.metrics.reliability import reliability_curve
from oddkout.report.figures import (
    draw_by_training_size,
    draw_cross_entropy_against_entropy,
    draw_ece_against_error,
    draw_entropies,
    draw_mean_reliability,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
else:  # matplotlib is imported by those who draw
    Axes: TypeAlias = Any
    Figure: TypeAlias = Any

_BASELINES = ("vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls")
_METHODS = ("oko", *_BASELINES)
_CALIBRATED = (*_METHODS, "bb+ts")
_ODD_CLASSES = ("oko", "pair", "oko-k1", "oko-k2", "oko-k3")
_TARGETS = ("oko", "oko-k1", "oko-k2", "oko-k3", "oko-soft", "oko-soft-k2", "oko-soft-k3")
_ENTROPIES = ("oko", "vanilla", "bb", "bb+ls", "bb+ts")

# Draws one panel: a data set with a distribution, for the variants that have runs there.
Panel = Callable[[Evidence, str, Distribution, Sequence[str], Axes], None]


@dataclass(frozen=True, kw_only=True)
class PaperFigure:
    """A figure of the paper.

    Attributes:
        name: Its number, as files are called.
        title: What it shows.
        variants: What is drawn.
        panel: How one panel is drawn.
        distributions: The rows of panels.
        datasets: The columns of panels.
        needs_predictions: Whether lines alone do not suffice.
        is_split: Whether every variant has a panel of its own.
    """

    name: str
    title: str
    variants: tuple[str, ...]
    panel: Panel
    distributions: tuple[Distribution, ...] = DISTRIBUTIONS
    datasets: tuple[str, ...] = tuple(TITLES)
    needs_predictions: bool = False
    is_split: bool = False


def draw_paper_figure(figure: PaperFigure, evidence: Evidence) -> Figure | None:
    """Draw a figure with the panels that there are runs for; none if there are none.

    Args:
        figure: The figure.
        evidence: The runs, with predictions where it needs them.
    """
    from matplotlib.figure import Figure as Canvas

    rows = [
        (data, distribution, variants)
        for distribution in figure.distributions
        for data in figure.datasets
        if (variants := _present(figure, evidence, data, distribution))
    ]
    if not rows:
        return None
    if figure.is_split:
        panels = [
            (data, distribution, [variant])
            for data, distribution, variants in rows
            for variant in variants
        ]
        columns = max(len(variants) for _, _, variants in rows)
    else:
        panels = [(data, distribution, variants) for data, distribution, variants in rows]
        columns = max(
            sum(distribution == shown for _, shown, _ in rows)
            for distribution in figure.distributions
        )
    lines = -(-len(panels) // columns)
    canvas = Canvas(figsize=(max(3.4, 2.7 * columns), 2.5 * lines + 0.6))
    axes = canvas.subplots(lines, columns, squeeze=False)
    for ax, (data, distribution, variants) in zip(axes.flat, panels, strict=False):
        figure.panel(evidence, data, distribution, variants, ax)
        title = f"{TITLES[data]}, {distribution}"
        ax.set_title(f"{title}\n{VARIANTS[variants[0]].title}" if figure.is_split else title)
    for ax in axes.flat[len(panels) :]:
        ax.set_axis_off()
    if not figure.is_split:
        _share_legend(canvas, list(axes.flat[: len(panels)]))
    return canvas


def save_paper_figures(evidence: Evidence, folder: Path) -> tuple[list[Path], dict[str, str]]:
    """Write all figures as PNG and SVG; return where they are, and why others are not.

    Args:
        evidence: The runs, with predictions as far as there are any.
        folder: Where to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths, absent = [], {}
    with style():
        for figure in PAPER_FIGURES:
            drawn = draw_paper_figure(figure, evidence)
            if drawn is None:
                needs = "runs with predictions" if figure.needs_predictions else "runs"
                absent[figure.name] = f"there are no {needs} that it shows"
                continue
            for ending in ("png", "svg"):
                paths.append(folder / f"figure-{figure.name}.{ending}")
                drawn.savefig(paths[-1], metadata={"Date": None} if ending == "svg" else None)
                drawn.set_layout_engine("none")  # it is laid out; doing so again costs most
    return paths, absent


def _present(
    figure: PaperFigure, evidence: Evidence, data: str, distribution: Distribution
) -> list[str]:
    """The variants of a panel that have runs, with predictions if these are needed."""
    found = []
    for variant in figure.variants:
        runs = _runs(evidence, data, distribution, variant)
        if any(run.logits is not None for run in runs) or (runs and not figure.needs_predictions):
            found.append(variant)
    return found


def _runs(evidence: Evidence, data: str, distribution: Distribution, variant: str) -> list[Run]:
    settings = evidence.shared_settings(data, distribution, variant)
    return [run for setting in settings for run in evidence.runs(setting, variant)]


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


def _cycled(ax: Axes, variants: Sequence[str], order: Sequence[str]) -> None:
    """Give a variant the colour of its place in the figure, whatever else is missing."""
    import matplotlib as mpl

    styles = list(mpl.rcParams["axes.prop_cycle"])
    chosen = [styles[order.index(name) % len(styles)] for name in variants]
    ax.set_prop_cycle(
        color=[found["color"] for found in chosen], marker=[found["marker"] for found in chosen]
    )


def _by_size(metric: str, name: str, order: Sequence[str], *, scale: Number = 1) -> Panel:
    """Panels of a metric against the number of training examples."""

    def panel(
        evidence: Evidence,
        data: str,
        distribution: Distribution,
        variants: Sequence[str],
        ax: Axes,
    ) -> None:
        settings = evidence.shared_settings(data, distribution, *variants)
        if not settings:  # each has some, but none is shared
            ax.text(0.5, 0.5, "no size that all have", ha="center", transform=ax.transAxes)
            return
        of = measure(metric)
        values: dict[str, list[list[float]]] = {}
        for variant in variants:
            tables = [evidence.by_seed([setting], variant, of) for setting in settings]
            seeds = sorted(set.intersection(*(set(table) for table in tables)))
            if seeds:
                values[VARIANTS[variant].title] = [
                    [scale * table[seed] for table in tables] for seed in seeds
                ]
        _cycled(ax, variants, order)
        draw_by_training_size([setting.examples for setting in settings], values, ax, name=name)

    return panel


def _pairs(
    draw: Callable[[Mapping[str, tuple[Any, Any]], Axes], Axes],
    numbers: Callable[[Evidence, Setting, str], list[tuple[float, float]]],
    order: Sequence[str],
) -> Panel:
    """Panels of points, a few for every setting and variant."""

    def panel(
        evidence: Evidence,
        data: str,
        distribution: Distribution,
        variants: Sequence[str],
        ax: Axes,
    ) -> None:
        points = {}
        for variant in variants:
            found = [
                point
                for setting in evidence.shared_settings(data, distribution, variant)
                for point in numbers(evidence, setting, variant)
            ]
            points[VARIANTS[variant].title] = tuple(np.transpose(found))
        _cycled(ax, variants, order)
        draw(points, ax)

    return panel


def _errors(evidence: Evidence, setting: Setting, variant: str) -> list[tuple[float, float]]:
    """Classification error and ECE, a point a run."""
    return [
        (1 - run.value("accuracy"), run.value("ece")) for run in evidence.runs(setting, variant)
    ]


def _entropies_of(evidence: Evidence, setting: Setting, variant: str) -> list[tuple[float, float]]:
    """Mean entropy and mean cross-entropy, a point a setting."""
    runs = evidence.runs(setting, variant)
    return [(fmean(run.value("entropy") for run in runs), fmean(run.value("nll") for run in runs))]


def _reliability(
    evidence: Evidence, data: str, distribution: Distribution, variants: Sequence[str], ax: Axes
) -> None:
    """Accuracy against confidence, averaged over runs."""
    curves = {
        VARIANTS[variant].title: [
            reliability_curve(logits=run.logits, labels=run.labels, bins=10)
            for run in _runs(evidence, data, distribution, variant)
            if run.logits is not None
        ]
        for variant in variants
    }
    _cycled(ax, variants, _CALIBRATED)
    draw_mean_reliability(curves, ax)
    for line, name in zip(ax.containers, curves, strict=True):
        line.set_label(name)  # the panels share a legend, but not an ECE, which figure 10 shows


def _entropy_panel(
    evidence: Evidence, data: str, distribution: Distribution, variants: Sequence[str], ax: Axes
) -> None:
    """Entropies of right and wrong predictions of one variant, all runs together."""
    entropies, hits = [], []
    classes = 2
    for run in _runs(evidence, data, distribution, variants[0]):
        if run.logits is None or run.labels is None:
            continue
        logits = run.logits.astype(np.float64)
        classes = logits.shape[1]
        log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        entropies.append(-(np.exp(log_probs) * log_probs).sum(axis=1))
        hits.append(logits.argmax(axis=1) == run.labels)
    draw_entropies(np.concatenate(entropies), np.concatenate(hits), ax, classes=classes)


_CE_H = "Mean cross-entropy against mean entropy"
_MNIST, _CIFAR = ("mnist", "fashion_mnist", "digits"), ("cifar10", "cifar100")

PAPER_FIGURES = (
    PaperFigure(
        name="1b",
        title="ECE against classification error",
        variants=_CALIBRATED,
        panel=_pairs(draw_ece_against_error, _errors, _CALIBRATED),
    ),
    PaperFigure(
        name="2",
        title="Accuracy by number of training examples",
        variants=_METHODS,
        panel=_by_size("accuracy", "accuracy %", _METHODS, scale=100),
    ),
    PaperFigure(
        name="3",
        title="Reliability, uniform classes",
        variants=_CALIBRATED,
        panel=_reliability,
        distributions=("uniform",),
        needs_predictions=True,
    ),
    PaperFigure(
        name="4",
        title="Entropies of right and wrong predictions, heavy-tailed classes",
        variants=_ENTROPIES,
        panel=_entropy_panel,
        distributions=("heavy-tailed",),
        datasets=_MNIST,
        needs_predictions=True,
        is_split=True,
    ),
    PaperFigure(
        name="5",
        title=_CE_H,
        variants=_CALIBRATED,
        panel=_pairs(draw_cross_entropy_against_entropy, _entropies_of, _CALIBRATED),
    ),
    PaperFigure(
        name="7",
        title="Reliability, heavy-tailed classes",
        variants=_CALIBRATED,
        panel=_reliability,
        distributions=("heavy-tailed",),
        needs_predictions=True,
    ),
    PaperFigure(
        name="8",
        title="Entropies of right and wrong predictions, heavy-tailed classes",
        variants=_ENTROPIES,
        panel=_entropy_panel,
        distributions=("heavy-tailed",),
        datasets=_CIFAR,
        needs_predictions=True,
        is_split=True,
    ),
    PaperFigure(
        name="9",
        title="Entropies of right and wrong predictions, uniform classes",
        variants=_ENTROPIES,
        panel=_entropy_panel,
        distributions=("uniform",),
        needs_predictions=True,
        is_split=True,
    ),
    PaperFigure(
        name="10",
        title="ECE by number of training examples",
        variants=_CALIBRATED,
        panel=_by_size("ece", "ECE", _CALIBRATED),
    ),
    PaperFigure(
        name="11",
        title="Accuracy for different k",
        variants=_ODD_CLASSES,
        panel=_by_size("accuracy", "accuracy %", _ODD_CLASSES, scale=100),
    ),
    PaperFigure(
        name="12",
        title="ECE for different k",
        variants=_ODD_CLASSES,
        panel=_by_size("ece", "ECE", _ODD_CLASSES),
    ),
    PaperFigure(
        name="13",
        title=f"{_CE_H} for different k",
        variants=_ODD_CLASSES,
        panel=_pairs(draw_cross_entropy_against_entropy, _entropies_of, _ODD_CLASSES),
    ),
    PaperFigure(
        name="14",
        title="Accuracy with hard and with soft targets",
        variants=_TARGETS,
        panel=_by_size("accuracy", "accuracy %", _TARGETS, scale=100),
    ),
    PaperFigure(
        name="15",
        title="ECE with hard and with soft targets",
        variants=_TARGETS,
        panel=_by_size("ece", "ECE", _TARGETS),
    ),
    PaperFigure(
        name="16",
        title=f"{_CE_H} with hard and with soft targets",
        variants=_TARGETS,
        panel=_pairs(draw_cross_entropy_against_entropy, _entropies_of, _TARGETS),
    ),
)
