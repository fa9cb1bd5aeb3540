"""Figures: each function draws finished numbers on an ``ax`` and returns the ``ax``.

Draw inside ``with style():``, which sets the style of all figures.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from oddkout.evaluation import ClassResult
from oddkout.metrics.ranking import RiskCoverage
from oddkout.metrics.reliability import ReliabilityCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:  # matplotlib is imported only by callers that draw
    Axes: TypeAlias = Any

_REFERENCE: dict[str, Any] = {
    "color": "0.55",
    "linestyle": "--",
    "linewidth": 0.8,
    "marker": "",
    "zorder": 1,
}

# Lists, arrays or tensors of numbers.
Numbers: TypeAlias = Any


def style() -> AbstractContextManager[None]:
    """The style of all figures, for a ``with`` block. Changes no global settings."""
    import matplotlib as mpl

    return mpl.rc_context(fname=Path(__file__).with_name("oddkout.mplstyle"))


def draw_reliability(curve: ReliabilityCurve, ax: Axes, *, label: str = "model") -> Axes:
    """Reliability diagram: accuracy against confidence, with the band of a calibrated model.

    Points have exact 95 % intervals. The band contains 95 % of the points of a calibrated model.
    Bars at the bottom show the share of the examples in each bin.
    """
    # One band for each bin, with gaps at empty bins.
    span = np.stack([curve.low_edge, curve.high_edge, curve.high_edge], axis=1)
    band = np.stack([curve.null_low, curve.null_high])[:, :, None].repeat(3, axis=2)
    band[:, :, 2] = np.nan
    ax.fill_between(
        span.ravel(), band[0].ravel(), band[1].ravel(), color="0.85", linewidth=0, zorder=0,
        label="calibrated, 95 %",
    )  # fmt: skip
    ax.plot([0, 1], [0, 1], **_REFERENCE)
    share = curve.count / curve.count.sum()
    width = curve.high_edge - curve.low_edge
    ax.bar(
        curve.low_edge, 0.25 * share / share.max(), width, align="edge", color="0.6", alpha=0.5,
        linewidth=0, zorder=1, label=f"{curve.count.sum():,.0f} examples",
    )  # fmt: skip
    gaps = [curve.accuracy - curve.accuracy_low, curve.accuracy_high - curve.accuracy]
    text = f"{label}, ECE {curve.error:.3f}"
    ax.errorbar(
        curve.confidence, curve.accuracy, gaps, linewidth=1, elinewidth=0.8, label=text, zorder=3
    )
    left = 0.0 if curve.low_edge[0] < 0.45 else 0.45
    ax.set(xlabel="confidence", ylabel="accuracy", xlim=(left, 1.02), ylim=(0, 1.02))
    ax.legend(loc="upper left")
    return ax


def draw_mean_reliability(
    models: Mapping[str, Sequence[ReliabilityCurve]], ax: Axes, *, bins: int = 10
) -> Axes:
    """Accuracy against confidence of several models, averaged over runs (figures 3 and 7).

    Each bin averages the runs that have examples in it, with their standard error. The diagonal is
    perfect calibration.

    Args:
        models: For each model, the curves of its runs, with bins of equal width.
        bins: Number of bins of these curves.
    """
    ax.plot([0, 1], [0, 1], **_REFERENCE)
    for name, curves in models.items():
        table = np.full((2, len(curves), bins), np.nan)
        for run, curve in enumerate(curves):
            row = np.rint(curve.high_edge * bins).astype(int) - 1
            table[:, run, row] = curve.confidence, curve.accuracy
        has_examples = (~np.isnan(table[0])).any(axis=0)
        confidence, accuracy = np.nanmean(table[:, :, has_examples], axis=1)
        count = (~np.isnan(table[1][:, has_examples])).sum(axis=0)
        spread = np.nanstd(table[1][:, has_examples], axis=0) / np.sqrt(np.maximum(count - 1, 1))
        error = np.mean([curve.error for curve in curves])
        ax.errorbar(confidence, accuracy, spread, elinewidth=0.7, label=f"{name}, ECE {error:.3f}")
    ax.set(xlabel="confidence", ylabel="accuracy", xlim=(0, 1.02), ylim=(0, 1.02))
    ax.legend(loc="upper left")
    return ax


def draw_entropies(entropy: Numbers, hits: Numbers, ax: Axes, *, classes: int) -> Axes:
    """Distribution of the entropy of right and of wrong predictions (figures 4, 8 and 9).

    Args:
        entropy: Entropy of each prediction.
        hits: Whether each prediction is right.
        classes: Number of classes; its logarithm is the highest entropy.
    """
    entropy, hits = np.asarray(entropy, float), np.asarray(hits).astype(bool)
    edges = np.linspace(0, np.log(classes), 26).tolist()
    for name, chosen in (("right", hits), ("wrong", ~hits)):
        values = entropy[chosen]
        weights = np.full(len(values), 1 / max(len(values), 1))
        text = f"{name}, {len(values):,}"
        ax.hist(values, edges, weights=weights, alpha=0.55, label=text, histtype="stepfilled")
    ax.axvline(np.log(classes), **_REFERENCE)
    ax.annotate(
        f"log {classes}", (np.log(classes), 1), xytext=(-2, -2), textcoords="offset points",
        xycoords=("data", "axes fraction"), ha="right", va="top", color="0.4", fontsize=7,
    )  # fmt: skip
    ax.set(xlabel="entropy of the prediction (nats)", ylabel="share of predictions")
    ax.set_xlim(0, 1.02 * np.log(classes))
    ax.set_ylim(0, 1.3 * ax.get_ylim()[1])  # room for the legend
    ax.legend(loc="upper left")
    return ax


def draw_by_training_size(
    methods: Mapping[str, Mapping[int, Numbers]], ax: Axes, *, name: str
) -> Axes:
    """A metric against the number of training examples, with 95 % bands or bars (figures 2, 10).

    Args:
        methods: For each method, the values of its runs by number of training examples.
        name: Name of the metric.
    """
    sizes = sorted({size for values in methods.values() for size in values})
    is_single = len(sizes) == 1
    for number, (method, values) in enumerate(methods.items()):
        own = np.array(sorted(values), dtype=float)
        runs = [np.asarray(values[size], dtype=float) for size in sorted(values)]
        mean = np.array([part.mean() for part in runs])
        half = np.array([_half_width(part) for part in runs])
        # A single size leaves no room for bands: draw the methods side by side, with bars.
        positions = own * 1.04 ** (number - (len(methods) - 1) / 2) if is_single else own
        line = ax.plot(positions, mean, label=method)[0]
        if is_single:
            ax.vlines(positions, mean - half, mean + half, color=line.get_color(), linewidth=1)
        else:
            ax.fill_between(
                positions, mean - half, mean + half, color=line.get_color(), alpha=0.18, linewidth=0
            )
    ax.set(xlabel="training examples", ylabel=name, xscale="log")
    labels = [f"{size:,}" if size in _apart(sizes) else "" for size in sizes]
    ax.set_xticks(sizes, labels, rotation=45, ha="right")
    ax.minorticks_off()
    lowest = min(value for values in methods.values() for part in values.values() for value in part)
    if lowest >= 0:  # a band below 0 would show what cannot be
        ax.set_ylim(bottom=max(0, ax.get_ylim()[0]))
    ax.legend()
    return ax


def _half_width(values: np.ndarray) -> float:
    """Half the width of the 95 % interval of a mean, by Student's t; 0 for a single value."""
    from scipy.stats import t

    if len(values) < 2:
        return 0.0
    return float(t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))


def _apart(sizes: Sequence[int]) -> list[int]:
    """The sizes that get a label: each is far enough from the one before, on a log scale."""
    kept = list(sizes[:1])
    room = (sizes[-1] / sizes[0]) ** 0.12
    for size in sizes[1:]:
        if size >= room * kept[-1]:
            kept.append(size)
    return kept


def draw_ece_against_error(methods: Mapping[str, tuple[Numbers, Numbers]], ax: Axes) -> Axes:
    """Calibration error against classification error, one point per run (figure 1B).

    Lines are linear regressions.

    Args:
        methods: For each method, the classification errors and the calibration errors of its runs.
    """
    for method, (errors, calibration_errors) in methods.items():
        x, y = np.asarray(errors, float), np.asarray(calibration_errors, float)
        line = ax.plot(x, y, linestyle="", alpha=0.7, label=method)[0]
        if np.ptp(x) > 0:
            slope, start = np.polyfit(x, y, 1)
            span = np.array([x.min(), x.max()])
            ax.plot(span, start + slope * span, "--", marker="", color=line.get_color())
    ax.set(xlabel="classification error", ylabel="ECE")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


def draw_cross_entropy_against_entropy(
    methods: Mapping[str, tuple[Numbers, Numbers]], ax: Axes
) -> Axes:
    """Mean cross-entropy against mean entropy, one point per setting (figure 5).

    Points above the diagonal are overconfident.

    Args:
        methods: For each method, the mean entropies and the mean cross-entropies of its runs.
    """
    highest = 0.0
    for method, (entropy, cross_entropy) in methods.items():
        x, y = np.asarray(entropy, float), np.asarray(cross_entropy, float)
        ax.plot(x, y, linestyle="", alpha=0.8, label=method)
        highest = max(highest, x.max(), y.max())
    ax.plot([0, 1.05 * highest], [0, 1.05 * highest], **_REFERENCE)
    ax.set(xlabel="mean entropy (nats)", ylabel="mean cross-entropy (nats)")
    ax.set(xlim=(0, 1.05 * highest), ylim=(0, 1.05 * highest))
    ax.legend(loc="lower right")
    return ax


def draw_risk_coverage(models: Mapping[str, RiskCoverage], ax: Axes) -> Axes:
    """Share of wrong predictions among the most confident predictions, for each model."""
    for name, curve in models.items():
        coverage, risk = curve.coverage.numpy(), curve.risk.numpy()
        ax.plot(coverage, risk, marker="", label=f"{name}, area {curve.area.item():.2g}")
    ax.set(xlabel="coverage (share answered)", ylabel="risk (share wrong)", xlim=(0, 1))
    ax.set_ylim(bottom=0)
    ax.legend(loc="upper left")
    return ax


def draw_class_calibration(classes: Sequence[ClassResult], ax: Axes) -> Axes:
    """For the predictions of each class: mean confidence and share of right ones.

    The share has an exact 95 % interval, which contains the confidence of a calibrated class. Of
    more than 20 classes, those with the largest gaps are drawn.
    """
    predicted = [result for result in classes if result.predicted > 0]
    gap = np.array([abs(result.confidence - result.precision.value) for result in predicted])
    largest = np.sort(np.argsort(-gap, kind="stable")[:20])
    drawn = [predicted[row] for row in largest]
    positions = np.arange(len(drawn))
    share = np.array([result.precision.value for result in drawn])
    limits = [
        [result.precision.value - result.precision.low for result in drawn],
        [result.precision.high - result.precision.value for result in drawn],
    ]
    ax.errorbar(positions, share, limits, linestyle="", elinewidth=0.9, label="share right, 95 %")
    confidence = [result.confidence for result in drawn]
    ax.plot(positions, confidence, linestyle="", marker="_", markersize=9, markeredgewidth=1.6,
            label="mean confidence")  # fmt: skip
    names = [_shortened(result.name) for result in drawn]
    is_crowded = sum(map(len, names)) > 24
    ax.set_xticks(
        positions, names, rotation=60 if is_crowded else 0, ha="right" if is_crowded else "center"
    )
    ax.set(xlabel="predicted class", ylabel="share", ylim=(0, 1.22), yticks=np.arange(0, 1.1, 0.2))
    ax.legend(loc="upper center", ncols=2)
    return ax


def draw_learning_curves(logs: Sequence[Sequence[Mapping[str, Any]]], ax: Axes) -> Axes:
    """Training loss against updates: a thin line for each run, a thick line for their mean.

    Args:
        logs: The logs of the runs of one method, see ``Trained``.
    """
    curves: dict[int, list[float]] = {}
    for log in logs:
        updates, losses = [row["update"] for row in log], [row["loss"] for row in log]
        ax.plot(updates, losses, marker="", color="0.55", linewidth=0.7, alpha=0.7)
        for update, loss in zip(updates, losses, strict=True):
            curves.setdefault(update, []).append(loss)
    ax.plot(list(curves), [np.mean(losses) for losses in curves.values()], marker="", color="C0")
    ax.set(xlabel="updates", ylabel="training loss")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    return ax


def _shortened(name: str) -> str:
    """The name, short enough for a tick label, with dollars escaped (no mathematics)."""
    return (name if len(name) <= 12 else f"{name[:11]}…").replace("$", r"\$")
