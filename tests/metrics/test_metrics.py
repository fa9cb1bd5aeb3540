"""Metrics are compared with other libraries, closed forms and slow loops."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics
from torchmetrics.functional.classification import multiclass_calibration_error

from oddkout import metrics
from oddkout.metrics.calibration import BinSums


def predictions(examples=500, classes=5, seed=0, scale=2.0):
    """Logits and labels of a model that is somewhat overconfident."""
    generator = torch.Generator().manual_seed(seed)
    logits = scale * torch.randn(examples, classes, generator=generator, dtype=torch.float64)
    drawn = (0.6 * logits).softmax(dim=1).multinomial(1, generator=generator)[:, 0]
    return logits, drawn


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("bins", [1, 10, 15])
def test_binned_errors_agree_with_netcal(seed, bins):
    from netcal.metrics import ECE, MCE

    logits, labels = predictions(seed=seed)
    probs = logits.softmax(dim=1)
    given = probs.numpy(), labels.numpy()
    found = metrics.expected_calibration_error(probs, labels, bins=bins).item()
    assert found == pytest.approx(ECE(bins).measure(*given), abs=1e-6)
    found = metrics.maximum_calibration_error(probs, labels, bins=bins).item()
    assert found == pytest.approx(MCE(bins).measure(*given), abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_binned_errors_agree_with_torchmetrics_where_it_is_right(seed):
    logits, labels = predictions(seed=seed)
    probs = logits.softmax(dim=1)
    for norm, error in (
        ("l1", metrics.expected_calibration_error),
        ("max", metrics.maximum_calibration_error),
    ):
        theirs = multiclass_calibration_error(probs, labels, 5, n_bins=15, norm=norm)
        assert error(probs, labels).item() == pytest.approx(theirs.item(), abs=1e-6)


def test_confidence_one_belongs_to_the_last_bin():
    """Right at 0.95 and wrong at 1.0 share the last of 10 bins: |0.975 - 0.5|."""
    probs, labels = torch.tensor([[0.95, 0.05], [1.0, 0.0]]), torch.tensor([0, 1])
    assert metrics.expected_calibration_error(probs, labels, bins=10).item() == pytest.approx(0.475)
    wrong = multiclass_calibration_error(probs, labels, 2, n_bins=10).item()
    assert wrong == pytest.approx(0.525)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_bins_are_closed_on_the_right(dtype):
    """Right at 0.7 and wrong at 0.72: apart in 10 bins, since 0.7 closes the bin below."""
    probs = torch.tensor([[0.7, 0.3], [0.72, 0.28]], dtype=dtype)
    found = metrics.expected_calibration_error(probs, [0, 1], bins=10).item()
    assert found == pytest.approx((0.3 + 0.72) / 2)
    curve = metrics.reliability_curve(probs, [0, 1], bins=10)
    assert curve.high_edge.tolist() == pytest.approx([0.7, 0.8])
    for edge in range(51, 100):  # 0.57 * 100 rounds down and 0.07 * 100 up: neither may matter
        row = torch.tensor([[edge / 100, 1 - edge / 100]], dtype=dtype)
        assert metrics.reliability_curve(row, [0], bins=100).high_edge == pytest.approx(edge / 100)


@pytest.mark.parametrize("seed", range(5))
def test_scores_agree_with_scikit_learn(seed):
    logits, labels = predictions(seed=seed)
    probs = logits.softmax(dim=1)
    y, p = labels.numpy(), probs.numpy()
    hits, confidence = p.argmax(axis=1) == y, p.max(axis=1)
    one_hot = np.eye(5)[y]
    expected = {
        metrics.accuracy: sklearn_metrics.accuracy_score(y, p.argmax(axis=1)),
        metrics.balanced_accuracy: sklearn_metrics.balanced_accuracy_score(y, p.argmax(axis=1)),
        metrics.negative_log_likelihood: sklearn_metrics.log_loss(y, p),
        metrics.brier_score: 5 * sklearn_metrics.mean_squared_error(one_hot, p),
        metrics.correctness_auroc: sklearn_metrics.roc_auc_score(hits, confidence),
    }
    for metric, value in expected.items():
        assert metric(probs=probs, labels=labels).item() == pytest.approx(value, abs=1e-6)
        assert metric(logits=logits, labels=labels).item() == pytest.approx(value, abs=1e-6)
    recalls = sklearn_metrics.recall_score(y, p.argmax(axis=1), average=None)
    assert metrics.per_class_accuracy(p, y).tolist() == pytest.approx(recalls.tolist())


def test_auroc_counts_equal_confidences_half():
    probs = torch.rand(300, generator=torch.Generator().manual_seed(0)).mul(5).round().div(10) + 0.5
    probs = torch.stack([probs, 1 - probs], dim=1)
    labels = torch.arange(300) % 3 == 0
    hits = (probs.argmax(dim=1) == labels).numpy()
    expected = sklearn_metrics.roc_auc_score(hits, probs.amax(dim=1).numpy())
    found = metrics.correctness_auroc(probs, labels.long()).item()
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("temperature", [0.8, 1.0, 3.0])
def test_smooth_error_agrees_with_relplot(seed, temperature):
    """Relplot cuts the Gaussian off at 1/2, so that errors above 0.2 are another matter."""
    import relplot

    logits, labels = predictions(examples=800, seed=seed)
    probs = (logits / temperature).softmax(dim=1)
    hits = (probs.argmax(dim=1) == labels).double().numpy()
    confidence = probs.amax(dim=1).numpy()
    found = metrics.smooth_calibration_error(probs, labels).item()
    theirs, width = relplot.smECE(confidence, hits, return_width=True)
    assert found == pytest.approx(theirs, abs=1e-3)
    assert found == pytest.approx(width, abs=2e-3), "the bandwidth is the error itself"


@pytest.mark.parametrize("temperature", [0.2, 0.5, 1.0, 1.7])
def test_smooth_error_is_the_integral_of_smoothed_gaps(temperature):
    """The definition, with reflected images of the Gaussian added up one by one."""
    logits, labels = predictions(examples=200)
    probs = (logits / temperature).softmax(dim=1)
    confidence = probs.amax(dim=1).numpy()
    gap = confidence - (probs.argmax(dim=1) == labels).double().numpy()
    found = metrics.smooth_calibration_error(probs, labels).item()
    grid = (np.arange(4000) + 0.5) / 4000
    images = [confidence + 2 * k for k in range(-2, 3)] + [2 * k - confidence for k in range(-2, 3)]
    kernel = sum(np.exp(-(((grid[:, None] - image) / found) ** 2) / 2) for image in images)
    smoothed = kernel @ gap / (found * math.sqrt(2 * math.pi) * len(gap))
    assert np.abs(smoothed).mean() == pytest.approx(found, abs=5e-4)


@pytest.mark.parametrize("bins", [4, 15])
def test_equal_mass_and_classwise_errors_equal_slow_loops(bins):
    logits, labels = predictions(examples=120)
    probs = logits.softmax(dim=1)
    confidence, predicted = probs.max(dim=1)
    hits = (predicted == labels).double()
    slow = 0.0
    for part in np.array_split(confidence.argsort().numpy(), 4):  # 120 examples: 4 bins are even
        slow += abs((confidence[part] - hits[part]).sum().item()) / 120
    found = metrics.expected_calibration_error(probs, labels, bins=4, binning="equal-mass").item()
    assert found == pytest.approx(slow)

    slow = 0.0
    for column in range(5):
        for low in range(bins):
            inside = (probs[:, column] > low / bins) & (probs[:, column] <= (low + 1) / bins)
            is_class = (labels == column).double()
            slow += abs((probs[inside, column] - is_class[inside]).sum().item()) / 120 / 5
    found = metrics.classwise_calibration_error(probs, labels, bins=bins).item()
    assert found == pytest.approx(slow)


def test_equal_mass_bins_do_not_tear_equal_confidences_apart():
    """All at one confidence are one bin, whatever the order of right and wrong."""
    probs = torch.tensor([[0.8, 0.2]]).expand(10, 2)
    found = metrics.expected_calibration_error(
        probs, [0] * 8 + [1] * 2, bins=5, binning="equal-mass"
    )
    assert found.item() == pytest.approx(0.0, abs=1e-6)


def test_the_debiased_error_is_unbiased_where_the_plain_one_is_not():
    """Confidence 0.8, accuracy 0.7, 20 examples: the mean square over many samples is 0.1 ** 2."""
    generator = torch.Generator().manual_seed(0)
    hits = torch.rand(20_000, 20, generator=generator, dtype=torch.float64) < 0.7
    count = torch.full((1, 20_000), 20.0, dtype=torch.float64)
    sums = BinSums(count, 0.8 * count, hits.double().sum(dim=1)[None])
    accuracy = sums.hits / 20
    squares = (0.8 - accuracy) ** 2 - accuracy * (1 - accuracy) / 19
    sigma = squares.std().item() / math.sqrt(20_000)
    assert abs(squares.mean().item() - 0.01) < 4 * sigma
    torch.testing.assert_close(sums.debiased_error(), squares.clamp_min(0).sqrt()[0])
    assert (0.8 - accuracy).pow(2).mean().item() > 0.01 + 20 * sigma


def test_the_parts_of_the_brier_score_add_up():
    logits, labels = predictions()
    parts = metrics.brier_decomposition(logits=logits, labels=labels)
    whole = metrics.brier_score(logits=logits, labels=labels)
    added = parts.uncertainty - parts.resolution + parts.reliability + parts.within_bins
    assert added.item() == pytest.approx(whole.item())
    # With one distinct probability in a bin nothing remains within it: Murphy's own identity.
    coarse = torch.tensor([[0.1, 0.9], [0.3, 0.7], [0.6, 0.4], [0.8, 0.2]], dtype=torch.float64)
    probs = coarse.repeat(25, 1)
    labels = torch.arange(100) % 7 < 3
    parts = metrics.brier_decomposition(probs, labels.long(), bins=20)
    assert parts.within_bins.item() == pytest.approx(0, abs=1e-12)
    slow = 0.0
    for row in range(4):
        share = labels[row::4].double().mean()
        slow += 2 * (coarse[row, 1] - share).item() ** 2 / 4
    assert parts.reliability.item() == pytest.approx(slow)
    base = labels.double().mean().item()
    assert parts.uncertainty.item() == pytest.approx(2 * base * (1 - base))


def test_risk_coverage_equals_a_slow_loop():
    logits, labels = predictions(examples=60)
    confidence, predicted = logits.softmax(dim=1).max(dim=1)
    order = confidence.argsort(descending=True)
    wrong = (predicted != labels)[order].double()
    risks = [wrong[: last + 1].mean().item() for last in range(60)]
    curve = metrics.risk_coverage(logits=logits, labels=labels)
    assert curve.risk.tolist() == pytest.approx(risks)
    assert curve.coverage.tolist() == pytest.approx([(last + 1) / 60 for last in range(60)])
    assert curve.area.item() == pytest.approx(sum(risks) / 60)


def test_the_reliability_curve_has_the_intervals_of_scipy():
    from scipy.stats import binomtest

    logits, labels = predictions(examples=300)
    curve = metrics.reliability_curve(logits=logits, labels=labels)
    for row, count in enumerate(curve.count):
        right = round(curve.accuracy[row] * count)
        expected = binomtest(right, int(count)).proportion_ci(0.95, method="exact")
        found = curve.accuracy_low[row], curve.accuracy_high[row]
        assert found == pytest.approx((expected.low, expected.high), abs=1e-9)
    gap = np.abs(curve.accuracy - curve.confidence)
    assert curve.error == pytest.approx(float((curve.count * gap).sum()) / 300)
    assert (curve.null_low <= curve.confidence + 1 / curve.count).all()
    assert (curve.null_high >= curve.confidence - 1 / curve.count).all()


@settings(max_examples=200, deadline=None)
@given(
    logits=st.lists(st.floats(-30, 30), min_size=2, max_size=8),
    label=st.integers(min_value=0, max_value=7),
)
def test_rc_is_not_negative_where_the_true_class_is_unlikely(logits, label):
    """Lemma 1 of the paper."""
    label %= len(logits)
    row = torch.tensor([logits], dtype=torch.float64)
    if row.softmax(dim=1)[0, label] <= 1 / len(logits):
        assert metrics.relative_cross_entropy(row, [label]).item() >= -1e-12
    probs = row.softmax(dim=1)
    slow = -math.fsum(p * math.log(p) for p in probs[0].tolist())
    assert metrics.entropy(row).item() == pytest.approx(slow, abs=1e-9)
    found = metrics.relative_cross_entropy(probs=probs, labels=[label]).item()
    assert found == pytest.approx(-math.log(probs[0, label]) - slow, abs=1e-9)


def test_rc_is_zero_on_average_for_labels_drawn_from_the_predictions():
    """Lemma 2 of the paper, within four standard errors."""
    generator = torch.Generator().manual_seed(0)
    logits = 2 * torch.randn(50_000, 10, generator=generator, dtype=torch.float64)
    labels = logits.softmax(dim=1).multinomial(1, generator=generator)[:, 0]
    relative = metrics.relative_cross_entropy(logits, labels)
    assert abs(relative.mean().item()) < 4 * relative.std().item() / math.sqrt(50_000)
    gap = metrics.entropy_gap(logits, labels).item()
    assert gap == pytest.approx(abs(relative.mean().item()))


def test_rc_is_infinite_and_never_nan_at_probability_zero():
    probs = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    assert metrics.relative_cross_entropy(probs=probs, labels=[1, 2]).tolist() == [math.inf] * 2
    relative = metrics.relative_cross_entropy(probs=probs, labels=[0, 0])
    assert relative.tolist() == pytest.approx([0.0, 0.0], abs=1e-7)
    assert metrics.entropy(probs=probs).tolist() == pytest.approx([0.0, math.log(2)])


def test_logits_of_any_size_are_safe():
    logits = torch.tensor([[1e4, 0.0], [0.0, -1e4], [3e38, -3e38]])
    assert metrics.cross_entropy(logits, [0, 0, 0]).tolist() == [0.0, 0.0, 0.0]
    assert metrics.cross_entropy(logits, [1, 1, 0]).tolist() == [1e4, 1e4, 0.0]
    assert metrics.expected_calibration_error(logits=logits, labels=[0, 0, 0]).item() == 0.0
    shifted, labels = predictions()[0] + 1e5, predictions()[1]
    plain = metrics.brier_score(logits=predictions()[0], labels=labels).item()
    assert metrics.brier_score(logits=shifted, labels=labels).item() == pytest.approx(plain)


@pytest.mark.parametrize(
    "convert", [lambda t: t.tolist(), lambda t: t.numpy(), lambda t: t.double()]
)
def test_lists_arrays_and_tensors_are_read_alike(convert):
    logits, labels = predictions(examples=50)
    probs = logits.softmax(dim=1)
    expected = metrics.expected_calibration_error(probs, labels).item()
    given = convert(probs)
    assert metrics.expected_calibration_error(given, labels.tolist()).item() == pytest.approx(
        expected
    )
    backwards = probs.numpy()[::-1]
    backwards.flags.writeable = False
    found = metrics.expected_calibration_error(backwards, labels.flip(0)).item()
    assert found == pytest.approx(expected), "views and read-only arrays are arrays too"
    half = metrics.expected_calibration_error(logits=logits.half(), labels=labels.numpy()).item()
    assert half == pytest.approx(expected, abs=0.05)


def test_of_equal_probabilities_the_first_is_the_prediction():
    assert metrics.accuracy([[0.5, 0.5], [0.5, 0.5]], [0, 1]).item() == 0.5


def test_groups_of_classes_are_thirds_by_training_frequency():
    train = np.repeat(np.arange(8), [5, 80, 10, 40, 20, 1, 2, 60])
    groups = metrics.frequency_groups(train, classes=8)
    found = {name: members.tolist() for name, members in groups.items()}
    assert found == {"head": [1, 7], "middle": [0, 2, 3, 4], "tail": [5, 6]}


GOOD = [[0.5, 0.5], [0.2, 0.8]]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"probs": [[0.5, 0.5], [0.5, 0.6]], "labels": [0, 1]}, "sum to 1, but row 1 sums to 1.1"),
        ({"probs": [[0.5, 0.5], [-0.1, 1.1]], "labels": [0, 1]}, "negative, but row 1 holds -0.1"),
        ({"probs": [[math.nan, 1.0]], "labels": [0]}, "numbers, but row 0 holds NaN"),
        ({"logits": [[0, 1.0], [math.inf, 0]], "labels": [0, 1]}, "finite, but row 1 holds NaN or"),
        ({"logits": [[0, 1.0], [math.nan, 0]], "labels": [0, 1]}, "finite, but row 1 holds NaN or"),
        ({"probs": GOOD, "labels": [0, 2]}, r"0 \.\. 1, .* example 1 has label 2; number the"),
        ({"probs": GOOD, "labels": [-1, 0]}, "example 0 has label -1"),
        ({"probs": GOOD, "labels": [0.0, 1.0]}, "labels must be integers, got torch.float32"),
        ({"probs": GOOD, "labels": [0]}, "2 rows of predictions and 1 labels"),
        ({"probs": GOOD, "labels": [[0], [1]]}, r"one axis, .* got shape \(2, 1\)"),
        ({"probs": GOOD}, "labels must be given"),
        ({"probs": np.empty((0, 3)), "labels": []}, "probs must hold at least one example, got no"),
        ({"probs": [[1.0], [1.0]], "labels": [0, 0]}, "at least 2 classes, got 1; write a single"),
        ({"probs": [0.5, 0.5], "labels": [0]}, r"\(examples, classes\), got .* shape \(2,\)"),
        ({"probs": [["a", "b"]], "labels": [0]}, "table of numbers"),
        ({"probs": [[0.5, 0.5], [1.0]], "labels": [0, 0]}, "rows of different lengths"),
        ({"probs": GOOD, "logits": GOOD, "labels": [0, 1]}, "either probs or logits, got both"),
        ({"labels": [0, 1]}, "either probs or logits, got neither"),
        ({"probs": GOOD, "labels": [0, 1], "bins": 0}, "bins must be at least 1, got 0"),
    ],
)
def test_bad_input_gets_one_sentence(given, text):
    with pytest.raises(ValueError, match=text) as raised:
        metrics.expected_calibration_error(**given)
    assert "\n" not in str(raised.value)


def test_groups_are_refused_where_there_are_none():
    with pytest.raises(ValueError, match="at least 3 classes, got 2"):
        metrics.frequency_groups([0, 1], classes=2)
    with pytest.raises(ValueError, match=r"0 \.\. 2, got 0 \.\. 5"):
        metrics.frequency_groups([0, 5], classes=3)


def test_one_example_has_metrics():
    assert metrics.expected_calibration_error([[0.7, 0.3]], [0]).item() == pytest.approx(0.3)
