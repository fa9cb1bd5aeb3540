"""The pictures of a comparison as SVG: some for each method, one for all methods."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.run import Run
from oddkout.evaluation import ClassResult
from oddkout.fitting.judging import BINS
from oddkout.metrics.entropies import entropies
from oddkout.metrics.predictions import read
from oddkout.metrics.ranking import risk_coverage
from oddkout.metrics.reliability import reliability_curve
from oddkout.report.figures import (
    draw_class_calibration,
    draw_entropies,
    draw_learning_curves,
    draw_reliability,
    draw_risk_coverage,
    style,
)
from oddkout.report.pooling import mean_risk_coverage, pooled_classes, pooled_reliability
from oddkout.report.svg import inline_svg, series_colour


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture and its caption.

    Attributes:
        method: The method; empty for a picture of all methods.
        is_tempered: Whether the out-of-fold temperature is applied; None if it does not matter.
        svg: The picture as SVG.
        numbers: The caption with its main numbers.
    """

    method: str
    is_tempered: bool | None
    svg: str
    numbers: str


def pictures(comparison: Comparison) -> dict[str, list[Picture]]:
    """All pictures of a comparison, by kind.

    Args:
        comparison: A comparison with the predictions of its runs.
    """
    drawn: dict[str, list[Picture]] = {
        "reliability": [], "entropy": [], "classes": [], "risk-coverage": [], "learning": [],
    }  # fmt: skip
    for is_tempered in (True, False):
        for number, method in enumerate(comparison.methods):
            runs = comparison.by_method[method]
            prefix = f"{number}{'t' if is_tempered else ''}"
            for kind, picture in (
                ("reliability", _reliability),
                ("entropy", _entropies),
                ("classes", _classes),
            ):
                drawn[kind].append(picture(method, runs, is_tempered, f"{prefix}-{kind}"))
        prefix = "t" if is_tempered else "r"
        drawn["risk-coverage"].append(_risk_coverage(comparison, is_tempered, prefix))
    for number, method in enumerate(comparison.methods):
        logs = [run.log for run in comparison.by_method[method]]
        if all(logs):
            drawn["learning"].append(_learning(method, logs, f"{number}-learning"))
    return drawn


def _reliability(method: str, runs: Sequence[Run], is_tempered: bool, name: str) -> Picture:
    curve = pooled_reliability(
        [
            reliability_curve(
                logits=run.test_logits(is_tempered=is_tempered), labels=run.labels, bins=BINS
            )
            for run in runs
        ]
    )
    nulls = [null["mean"] for run in runs if (null := run.null("ece", is_tempered=is_tempered))]
    numbers = f"ECE {fmean(run.value('ece', is_tempered=is_tempered) for run in runs):.3f}"
    if nulls:
        numbers += f", of a calibrated model {fmean(nulls):.3f}"
    points = "; ".join(
        f"at confidence {confidence:.2f} {accuracy:.0%} right of {count:,.0f}"
        for confidence, accuracy, count in zip(
            curve.confidence, curve.accuracy, curve.count, strict=True
        )
    )
    return _drawn(
        lambda ax: draw_reliability(curve, ax, label=method),
        method=method,
        is_tempered=is_tempered,
        name=name,
        title=f"Reliability diagram of {method}",
        numbers=numbers,
        description=points,
    )


def _entropies(method: str, runs: Sequence[Run], is_tempered: bool, name: str) -> Picture:
    values, hits = [], []
    for run in runs:
        predictions = read(logits=run.test_logits(is_tempered=is_tempered), labels=run.labels)
        values.append(entropies(predictions).numpy())
        hits.append(predictions.confidence_and_hits()[1].numpy() > 0)
    entropy, is_right = np.concatenate(values), np.concatenate(hits)
    kinds = [
        (kind, entropy[chosen].mean(), chosen.sum())
        for kind, chosen in (("right", is_right), ("wrong", ~is_right))
        if chosen.any()
    ]
    parts = [f"{kind} {mean:.2f} nats in {count:,} predictions" for kind, mean, count in kinds]
    means = [f"{kind} {mean:.2f}" for kind, mean, _ in kinds]
    return _drawn(
        lambda ax: draw_entropies(entropy, is_right, ax, classes=len(runs[0].classes)),
        method=method,
        is_tempered=is_tempered,
        name=name,
        title=f"Entropy of the right and the wrong predictions of {method}",
        numbers=f"mean entropy: {', '.join(means)}",
        description="; ".join(parts),
        height=0.82,
    )


def _classes(method: str, runs: Sequence[Run], is_tempered: bool, name: str) -> Picture:
    results, has_rare = pooled_classes(runs, is_tempered=is_tempered)
    which = "the rare classes" if has_rare else "all classes"
    predicted = [result for result in results if result.predicted]
    points = "; ".join(
        f"{result.name}: confidence {result.confidence:.0%}, right {result.precision.value:.0%} "
        f"({result.precision.low:.0%} to {result.precision.high:.0%}), recall "
        f"{result.accuracy.value:.0%}"
        for result in predicted
    )
    return _drawn(
        lambda ax: draw_class_calibration(results, ax),
        method=method,
        is_tempered=is_tempered,
        name=name,
        title=f"Calibration of {method} in {which}",
        numbers=_class_numbers(results, predicted),
        description=points or "none of them is ever predicted",
        height=0.86,
    )


def _class_numbers(results: Sequence[ClassResult], predicted: Sequence[ClassResult]) -> str:
    """Mean recall, confidence and precision of the classes."""
    tested = [result.accuracy.value for result in results if result.examples]
    recall = f"mean recall {fmean(tested):.0%}" if tested else "no test examples"
    if not predicted:
        return f"{recall}; never predicted"
    confidence = fmean(result.confidence for result in predicted)
    precision = fmean(result.precision.value for result in predicted)
    return f"{recall}; confidence {confidence:.0%}, right {precision:.0%}"


def _risk_coverage(comparison: Comparison, is_tempered: bool, name: str) -> Picture:
    curves = {
        method: mean_risk_coverage(
            [
                risk_coverage(logits=run.test_logits(is_tempered=is_tempered), labels=run.labels)
                for run in runs
            ]
        )
        for method in comparison.methods
        for runs in [comparison.by_method[method]]
    }

    def draw(ax: Any) -> None:
        ax.set_prop_cycle(
            color=[series_colour(number) for number in range(24)],
            linestyle=(["-"] * 6 + ["--"] * 6) * 2,
        )
        draw_risk_coverage(curves, ax)
        for number, line in enumerate(ax.lines):
            line.set_gid(f"series-{number}")

    points = "; ".join(
        f"{method}: {curve.risk[-1]:.1%} wrong of all, {curve.risk[49]:.1%} of the most confident "
        "half, "
        f"area {curve.area:.3g}"
        for method, curve in curves.items()
    )
    return _drawn(
        draw,
        method="",
        is_tempered=is_tempered,
        name=f"{name}-risk",
        title="Risk against coverage of all methods",
        numbers="",
        description=points,
        size=(6.2, 3.2),
    )


def _learning(method: str, logs: Sequence[Any], name: str) -> Picture:
    first, last = (fmean(log[row]["loss"] for log in logs) for row in (0, -1))
    return _drawn(
        lambda ax: draw_learning_curves(logs, ax),
        method=method,
        is_tempered=None,
        name=name,
        title=f"Learning curves of {method}",
        numbers=f"loss {first:.3f} to {last:.3f}",
        description=f"from update {logs[0][0]['update']} to {logs[0][-1]['update']}, mean of "
        f"{len(logs)} runs",
    )


def _drawn(
    draw: Callable[[Any], Any],
    *,
    method: str,
    is_tempered: bool | None,
    name: str,
    title: str,
    numbers: str,
    description: str,
    size: tuple[float, float] = (2.75, 2.3),
    height: float | None = None,
) -> Picture:
    """Draw a picture without a legend: the page has one legend for all pictures of a kind.

    ``height`` is the share of the vertical axis that remains without the room for the legend.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with style(), mpl.rc_context({"svg.hashsalt": name}):
        figure = Figure(figsize=size)
        ax = figure.subplots()
        draw(ax)
        if (legend := ax.get_legend()) is not None:
            legend.remove()
            if height is not None:
                ax.set_ylim(0, height * ax.get_ylim()[1])
        kind = {None: "", False: ", as trained", True: ", with the out-of-fold temperature"}
        svg = inline_svg(
            figure,
            name=name,
            title=title + kind[is_tempered],
            description=f"{numbers}. {description}." if numbers else f"{description}.",
        )
    return Picture(method=method, is_tempered=is_tempered, svg=svg, numbers=numbers)
