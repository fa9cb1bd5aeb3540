"""What one panel of a figure of the paper shows: a data set with a distribution of its classes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from oddkout.checks import Number
from oddkout.comparing.run import Run
from oddkout.metrics.reliability import reliability_curve
from oddkout.paper.evidence import Evidence, measure
from oddkout.paper.settings import Distribution, Setting
from oddkout.paper.variants import VARIANTS
from oddkout.report.figures import draw_by_training_size, draw_entropies, draw_mean_reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:  # matplotlib is imported by those who draw
    Axes: TypeAlias = Any


@dataclass(frozen=True)
class Shown:
    """What a panel shows.

    Attributes:
        evidence: The runs.
        data: The data set.
        distribution: The distribution of its classes.
        variants: The variants, each of which has runs there.
    """

    evidence: Evidence
    data: str
    distribution: Distribution
    variants: Sequence[str]

    def settings(self, *variants: str) -> list[Setting]:
        """The settings in which all given variants have runs.

        Args:
            *variants: The variants.
        """
        return self.evidence.shared_settings(self.data, self.distribution, *variants)

    def runs(self, variant: str) -> list[Run]:
        """All runs of a variant.

        Args:
            variant: The variant.
        """
        return [
            run
            for setting in self.settings(variant)
            for run in self.evidence.runs(setting, variant)
        ]


# Draws one panel.
Panel = Callable[[Shown, Axes], None]


def by_size(metric: str, name: str, *, scale: Number = 1) -> Panel:
    """Panels of a metric against the number of training examples.

    Args:
        metric: Its name, as ``evaluate`` has it.
        name: What the axis says.
        scale: What values are multiplied by.
    """

    def panel(shown: Shown, ax: Axes) -> None:
        settings = shown.settings(*shown.variants)
        if not settings:  # each has some, but none is shared
            ax.text(0.5, 0.5, "no size that all have", ha="center", transform=ax.transAxes)
            return
        of = measure(metric)
        values: dict[str, list[list[float]]] = {}
        for variant in shown.variants:
            tables = [shown.evidence.by_seed([setting], variant, of) for setting in settings]
            seeds = sorted(set.intersection(*(set(table) for table in tables)))
            if seeds:
                values[VARIANTS[variant].title] = [
                    [scale * table[seed] for table in tables] for seed in seeds
                ]
        draw_by_training_size([setting.examples for setting in settings], values, ax, name=name)

    return panel


def pairs(
    draw: Callable[[Mapping[str, tuple[Any, Any]], Axes], Axes],
    numbers: Callable[[Sequence[Run]], list[tuple[float, float]]],
) -> Panel:
    """Panels of points, a few for every setting and variant.

    Args:
        draw: Draws the points of all variants.
        numbers: The points of the runs of a setting and a variant.
    """

    def panel(shown: Shown, ax: Axes) -> None:
        points = {}
        for variant in shown.variants:
            found = [
                point
                for setting in shown.settings(variant)
                for point in numbers(shown.evidence.runs(setting, variant))
            ]
            points[VARIANTS[variant].title] = tuple(np.transpose(found))
        draw(points, ax)

    return panel


def errors(runs: Sequence[Run]) -> list[tuple[float, float]]:
    """Classification error and ECE, a point a run."""
    return [(1 - run.value("accuracy"), run.value("ece")) for run in runs]


def mean_entropies(runs: Sequence[Run]) -> list[tuple[float, float]]:
    """Mean entropy and mean cross-entropy, one point."""
    return [(fmean(run.value("entropy") for run in runs), fmean(run.value("nll") for run in runs))]


def reliability_panel(shown: Shown, ax: Axes) -> None:
    """Accuracy against confidence, averaged over runs."""
    curves = {
        VARIANTS[variant].title: [
            reliability_curve(logits=run.logits, labels=run.labels, bins=10)
            for run in shown.runs(variant)
            if run.logits is not None
        ]
        for variant in shown.variants
    }
    draw_mean_reliability(curves, ax)
    for line, name in zip(ax.containers, curves, strict=True):
        line.set_label(name)  # the panels share a legend, but no ECE, which figure 10 shows


def entropy_panel(shown: Shown, ax: Axes) -> None:
    """Entropies of right and wrong predictions of one variant, all runs together."""
    entropies, hits = [], []
    classes = 2
    for run in shown.runs(shown.variants[0]):
        if run.logits is None or run.labels is None:
            continue
        logits = run.logits.astype(np.float64)
        classes = logits.shape[1]
        log_probs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        entropies.append(-(np.exp(log_probs) * log_probs).sum(axis=1))
        hits.append(logits.argmax(axis=1) == run.labels)
    draw_entropies(np.concatenate(entropies), np.concatenate(hits), ax, classes=classes)
