"""Figures draw the numbers they are given, in one style, without side effects."""

import math

import matplotlib as mpl
import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

import oddkout as oko
from oddkout.report import figures


def drawn(examples=300, classes=4, *, seed=0, temperature=1.5):
    source = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(examples, classes, generator=source)
    labels = (logits / temperature).softmax(dim=1).multinomial(1, generator=source)[:, 0]
    return {"logits": logits, "labels": labels}


@pytest.fixture
def ax():
    with figures.style():
        yield Figure().subplots()


@pytest.fixture(scope="module")
def report():
    return oko.evaluate(**drawn(), replicates=50)


def points(container):
    """The points of an error-bar plot."""
    return container.lines[0].get_xydata().T


def test_the_reliability_diagram_shows_points_intervals_counts_and_null_band(ax, report):
    curve = report.reliability
    assert figures.draw_reliability(curve, ax, label="oko") is ax
    [container] = [c for c in ax.containers if hasattr(c, "has_yerr")]
    confidence, accuracy = points(container)
    np.testing.assert_allclose(confidence, curve.confidence)
    np.testing.assert_allclose(accuracy, curve.accuracy)
    limits = np.array([segment[:, 1] for segment in container.lines[2][0].get_segments()])
    np.testing.assert_allclose(limits[:, 0], curve.accuracy_low, atol=1e-12)
    np.testing.assert_allclose(limits[:, 1], curve.accuracy_high, atol=1e-12)
    heights = np.array([bar.get_height() for bar in ax.patches])
    np.testing.assert_allclose(heights / heights.sum(), curve.count / 300)
    band = np.concatenate([path.vertices[:, 1] for path in ax.collections[0].get_paths()])
    assert set(np.round(curve.null_high, 9)) <= set(np.round(band, 9))
    assert set(np.round(curve.null_low, 9)) <= set(np.round(band, 9))
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"oko, ECE {curve.error:.3f}" in labels
    assert "300 examples" in labels


def test_runs_are_averaged_bin_by_bin(ax):
    curves = [oko.metrics.reliability_curve(**drawn(80, seed=s), bins=10) for s in range(4)]
    figures.draw_mean_reliability({"oko": curves, "bb": curves[:1]}, ax, bins=10)
    confidence, accuracy = points(ax.containers[0])
    slow: dict[float, list[tuple[float, float]]] = {}
    for curve in curves:
        for edge, x, y in zip(curve.high_edge, curve.confidence, curve.accuracy, strict=True):
            slow.setdefault(round(float(edge), 6), []).append((x, y))
    expected = np.array([np.mean(slow[edge], axis=0) for edge in sorted(slow)])
    np.testing.assert_allclose(np.stack([confidence, accuracy], axis=1), expected)


def test_entropies_of_right_and_wrong_are_shares(ax):
    hits = np.array([True] * 30 + [False] * 10)
    figures.draw_entropies(torch.linspace(0, 1.38, 40), torch.tensor(hits), ax, classes=4)
    for patch in ax.patches:
        assert patch.get_path().vertices[1:50:2, 1].sum() == pytest.approx(1), "25 bars"
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["right, 30", "wrong, 10"]
    assert ax.lines[0].get_xdata()[0] == pytest.approx(math.log(4))


def test_bands_are_those_of_student(ax):
    """Two runs: t(0.975, 1 degree) = 12.7062, so that 0.8 and 0.9 give 0.85 +- 12.7062 * 0.05."""
    figures.draw_by_training_size({"oko": {100: [0.5], 10: [0.8, 0.9]}}, ax, name="accuracy")
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.85, 0.5])
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx(0.85 + 12.7062 * 0.05, abs=1e-4)
    assert band.min() == pytest.approx(0.85 - 12.7062 * 0.05, abs=1e-4)
    assert ax.get_ylabel() == "accuracy"


def test_the_axis_of_a_metric_that_cannot_be_negative_begins_at_0(ax):
    figures.draw_by_training_size({"oko": {10: [0.0, 0.2], 100: [0.0, 0.1]}}, ax, name="ECE")
    assert ax.get_ylim()[0] == 0


def test_methods_at_a_single_size_stand_side_by_side_with_bars(ax):
    values = {"oko": {100: [0.8, 0.9]}, "bb": {100: [0.7, 0.7]}}
    figures.draw_by_training_size(values, ax, name="accuracy")
    first, second = (line.get_xdata()[0] for line in ax.lines)
    assert first < 100 < second
    (bottom, top) = ax.collections[0].get_segments()[0][:, 1]
    assert (top - bottom) / 2 == pytest.approx(12.7062 * 0.05, abs=1e-4)


def test_regression_lines_go_through_points_on_a_line(ax):
    errors = np.array([0.1, 0.2, 0.4])
    figures.draw_ece_against_error({"oko": (errors, 0.5 * errors + 0.01)}, ax)
    line = ax.lines[1]
    np.testing.assert_allclose(line.get_xdata(), [0.1, 0.4])
    np.testing.assert_allclose(line.get_ydata(), [0.06, 0.21])
    figures.draw_ece_against_error({"one run": ([0.1], [0.2])}, ax)  # no line through one point


def test_cross_entropy_against_entropy_has_its_diagonal(ax):
    figures.draw_cross_entropy_against_entropy({"oko": ([0.5, 1.0], [0.6, 1.4])}, ax)
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[0.5, 0.6], [1.0, 1.4]])
    diagonal = ax.lines[1]
    np.testing.assert_allclose(diagonal.get_xdata(), diagonal.get_ydata())
    assert ax.get_xlim() == ax.get_ylim()


def test_risk_coverage_is_drawn_as_given(ax, report):
    figures.draw_risk_coverage({"oko": report.risk_coverage}, ax)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), report.risk_coverage.risk)


def test_classes_show_confidence_and_share_right(ax, report):
    figures.draw_class_calibration(report.classes, ax)
    positions, share = points(ax.containers[0])
    expected = [result.precision.value for result in report.classes]
    np.testing.assert_allclose(share, expected)
    confidence = ax.lines[1].get_ydata()
    np.testing.assert_allclose(confidence, [result.confidence for result in report.classes])
    labels = [tick.get_text() for tick in ax.get_xticklabels()]
    assert labels == ["0", "1", "2", "3"]
    assert len(positions) == 4


def test_of_many_classes_the_worst_are_shown(ax):
    report = oko.evaluate(**drawn(2000, 40), replicates=50)
    figures.draw_class_calibration(report.classes, ax)
    gaps = sorted(abs(r.confidence - r.precision.value) for r in report.classes if r.predicted)
    _, share = points(ax.containers[0])
    gaps_drawn = np.abs(share - ax.lines[1].get_ydata())
    np.testing.assert_allclose(np.sort(gaps_drawn), gaps[-20:])


def test_the_style_is_colour_blind_safe_legible_and_leaves_no_trace():
    """The published colours of Okabe and Ito, and grey for an eighth line."""
    before = dict(mpl.rcParams)
    published = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"}
    with figures.style():
        colours = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
        assert {f"#{colour.removeprefix('#')}" for colour in colours} == published | {"#7F7F7F"}
        assert mpl.rcParams["xtick.labelsize"] >= 7
        assert mpl.rcParams["figure.figsize"][0] == 3.3
    assert dict(mpl.rcParams) == before


def test_names_under_ticks_do_not_overlap_at_half_width(report, tmp_path):
    names = ["airplane", "an automobile of a long name", "bird", "cat"]
    report = oko.evaluate(**drawn(), classes=names, replicates=50)
    with figures.style():
        figure = Figure()
        ax = figures.draw_class_calibration(report.classes, figure.subplots())
        figure.savefig(tmp_path / "classes.png")
        boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    corners = sorted((box.x1, box.y1) for box in boxes)
    assert all(np.diff([x for x, _ in corners]) > 7), "each name ends under its own tick"
