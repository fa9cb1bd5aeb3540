"""The panels of the paper's figures: one data set with one distribution of its classes each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from oddkout.comparing.run import Run
from oddkout.data import KNOWN
from oddkout.metrics.catalogue import METRICS
from oddkout.paper.digest import entropies, reliability
from oddkout.paper.evidence import Evidence, measure
from oddkout.paper.settings import PaperDistribution, Setting
from oddkout.paper.variants import VARIANTS
from oddkout.report.figures import draw_by_training_size, draw_entropies, draw_mean_reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:  # importing matplotlib is slow: only functions that draw do it
    Axes: TypeAlias = Any


@dataclass(frozen=True)
class PanelData:
    """The runs that one panel draws.

    Attributes:
        evidence: The runs.
        data: The data set.
        distribution: The distribution of its classes.
        variants: The variants to draw; each has runs for this data set and distribution.
    """

    evidence: Evidence
    data: str
    distribution: PaperDistribution
    variants: Sequence[str]

    def settings(self, *variants: str) -> list[Setting]:
        """The settings in which all given variants have runs."""
        return self.evidence.shared_settings(self.data, self.distribution, *variants)

    def compared(self, variant: str) -> list[Setting]:
        """The settings in which a variant has runs, and another variant of the panel has, too."""
        return [
            setting
            for setting in self.settings(variant)
            if any(
                self.evidence.runs(setting, other) for other in self.variants if other != variant
            )
        ]

    def runs(self, variant: str) -> list[Run]:
        """All runs of a variant."""
        return [
            run
            for setting in self.settings(variant)
            for run in self.evidence.runs(setting, variant)
        ]


# Draws one panel.
Panel = Callable[[PanelData, Axes], None]


def by_size(name: str) -> Panel:
    """Panels of a metric, given by name, against the number of training examples."""
    metric = METRICS[name]

    def panel(panel_data: PanelData, ax: Axes) -> None:
        value_of = measure(name)
        values = {
            VARIANTS[variant].title: {
                setting.examples: [
                    metric.scale * value
                    for value in panel_data.evidence.by_seed([setting], variant, value_of).values()
                ]
                for setting in panel_data.compared(variant)
            }
            for variant in panel_data.variants
        }
        draw_by_training_size(values, ax, name=metric.head)

    return panel


def pairs(
    draw: Callable[[Mapping[str, tuple[Any, Any]], Axes], Axes],
    points_of: Callable[[Sequence[Run]], list[tuple[float, float]]],
) -> Panel:
    """Panels of points.

    Args:
        draw: Draws the points of all variants.
        points_of: Points from the runs of one setting and variant.
    """

    def panel(panel_data: PanelData, ax: Axes) -> None:
        points = {}
        for variant in panel_data.variants:
            coordinates = [
                point
                for setting in panel_data.compared(variant)
                for point in points_of(panel_data.evidence.runs(setting, variant))
            ]
            points[VARIANTS[variant].title] = tuple(np.transpose(coordinates))
        draw(points, ax)

    return panel


def errors(runs: Sequence[Run]) -> list[tuple[float, float]]:
    """Classification error and ECE: one point per run."""
    return [(1 - run.value("accuracy"), run.value("ece")) for run in runs]


def mean_entropies(runs: Sequence[Run]) -> list[tuple[float, float]]:
    """Mean entropy and mean cross-entropy over the runs: one point."""
    return [(fmean(run.value("entropy") for run in runs), fmean(run.value("nll") for run in runs))]


def reliability_panel(panel_data: PanelData, ax: Axes) -> None:
    """Accuracy against confidence, averaged over runs."""
    curves = {
        VARIANTS[variant].title: [
            curve for run in panel_data.runs(variant) if (curve := reliability(run)) is not None
        ]
        for variant in panel_data.variants
    }
    draw_mean_reliability(curves, ax)
    for line, name in zip(ax.containers, curves, strict=True):
        line.set_label(name)  # without the ECE: all panels share one legend


def entropy_panel(panel_data: PanelData, ax: Axes) -> None:
    """Entropies of correct and wrong predictions of one variant, all runs pooled."""
    classes = len(KNOWN[panel_data.data].classes)
    found = [
        pair
        for run in panel_data.runs(panel_data.variants[0])
        if (pair := entropies(run, classes=classes)) is not None
    ]
    entropy, hits = (np.concatenate(part) for part in zip(*found, strict=True))
    draw_entropies(entropy, hits, ax, classes=classes)
