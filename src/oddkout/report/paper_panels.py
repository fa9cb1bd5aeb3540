"""What one panel of a figure of the paper shows: a data set with a distribution of its classes."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from oddkout.checks import Number
from oddkout.experiments.evidence import Evidence, measure
from oddkout.experiments.run import Run
from oddkout.experiments.settings import Distribution, Setting
from oddkout.experiments.variants import VARIANTS
from oddkout.metrics.reliability import reliability_curve
from oddkout.report.figures import draw_by_training_size, draw_entropies, draw_mean_reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:  # matplotlib is imported by those who draw
    Axes: TypeAlias = Any

# Draws one panel, for the variants that have runs there.
Panel = Callable[[Evidence, str, Distribution, Sequence[str], Axes], None]


def runs_of(evidence: Evidence, data: str, distribution: Distribution, variant: str) -> list[Run]:
    """All runs of a variant on a data set with a distribution.

    Args:
        evidence: The runs.
        data: The data set.
        distribution: The distribution of classes.
        variant: The variant.
    """
    settings = evidence.shared_settings(data, distribution, variant)
    return [run for setting in settings for run in evidence.runs(setting, variant)]


def by_size(metric: str, name: str, order: Sequence[str], *, scale: Number = 1) -> Panel:
    """Panels of a metric against the number of training examples.

    Args:
        metric: Its name, as ``evaluate`` has it.
        name: What the axis says.
        order: The variants of the figure, by which colours go.
        scale: What values are multiplied by.
    """

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


def pairs(
    draw: Callable[[Mapping[str, tuple[Any, Any]], Axes], Axes],
    numbers: Callable[[Evidence, Setting, str], list[tuple[float, float]]],
    order: Sequence[str],
) -> Panel:
    """Panels of points, a few for every setting and variant.

    Args:
        draw: Draws the points of all variants.
        numbers: The points of a setting and a variant.
        order: The variants of the figure, by which colours go.
    """

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


def errors(evidence: Evidence, setting: Setting, variant: str) -> list[tuple[float, float]]:
    """Classification error and ECE, a point a run."""
    return [
        (1 - run.value("accuracy"), run.value("ece")) for run in evidence.runs(setting, variant)
    ]


def entropies_of(evidence: Evidence, setting: Setting, variant: str) -> list[tuple[float, float]]:
    """Mean entropy and mean cross-entropy, a point a setting."""
    runs = evidence.runs(setting, variant)
    return [(fmean(run.value("entropy") for run in runs), fmean(run.value("nll") for run in runs))]


def reliability(order: Sequence[str]) -> Panel:
    """Panels of accuracy against confidence, averaged over runs.

    Args:
        order: The variants of the figure, by which colours go.
    """

    def panel(
        evidence: Evidence,
        data: str,
        distribution: Distribution,
        variants: Sequence[str],
        ax: Axes,
    ) -> None:
        curves = {
            VARIANTS[variant].title: [
                reliability_curve(logits=run.logits, labels=run.labels, bins=10)
                for run in runs_of(evidence, data, distribution, variant)
                if run.logits is not None
            ]
            for variant in variants
        }
        _cycled(ax, variants, order)
        draw_mean_reliability(curves, ax)
        for line, name in zip(ax.containers, curves, strict=True):
            line.set_label(name)  # the panels share a legend, but no ECE, which figure 10 shows

    return panel


def entropy_panel(
    evidence: Evidence, data: str, distribution: Distribution, variants: Sequence[str], ax: Axes
) -> None:
    """Entropies of right and wrong predictions of one variant, all runs together."""
    entropies, hits = [], []
    classes = 2
    for run in runs_of(evidence, data, distribution, variants[0]):
        if run.logits is None or run.labels is None:
            continue
        logits = run.logits.astype(np.float64)
        classes = logits.shape[1]
        log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        entropies.append(-(np.exp(log_probs) * log_probs).sum(axis=1))
        hits.append(logits.argmax(axis=1) == run.labels)
    draw_entropies(np.concatenate(entropies), np.concatenate(hits), ax, classes=classes)


def _cycled(ax: Axes, variants: Sequence[str], order: Sequence[str]) -> None:
    """Give a variant the colour of its place in the figure, whatever else is missing."""
    import matplotlib as mpl

    styles = list(mpl.rcParams["axes.prop_cycle"])
    chosen = [styles[order.index(name) % len(styles)] for name in variants]
    ax.set_prop_cycle(
        color=[found["color"] for found in chosen], marker=[found["marker"] for found in chosen]
    )
