"""Intervals cover, null levels are those of calibrated models, and the words follow the numbers."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import kstest
from sklearn.metrics import precision_score, recall_score

import oddkout as oko
from oddkout import metrics
from oddkout.evaluation.evaluate import null_level
from oddkout.evaluation.resampling import CALIBRATION_ERRORS, Examples, Resampler
from oddkout.metrics.catalogue import METRICS
from oddkout.metrics.intervals import bootstrap_interval, clopper_pearson, mean_of_shares
from oddkout.metrics.predictions import read


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn(examples, classes=10, *, seed=0, scale=2.0, temperature=1.0):
    """Logits, and labels drawn from them at a temperature; at 1 the model is calibrated."""
    source = generator(seed)
    logits = scale * torch.randn(examples, classes, generator=source, dtype=torch.float64)
    labels = (logits / temperature).softmax(dim=1).multinomial(1, generator=source)[:, 0]
    return logits, labels


def resampler(logits, labels, *, replicates=200, seed=0, bins=15):
    examples = Examples.of(read(logits=logits, labels=labels))
    return Resampler(examples, bins=bins, replicates=replicates, generator=generator(seed))


def test_intervals_cover_the_truth_in_95_of_100_cases():
    """500 data sets of an overconfident model; 92 to 98 % is three standard errors around 95.

    The truth is that of a million examples; for ECE, which noise makes larger, it is the mean over
    the data sets. In a process of its own: the checks of shapes would take most of the time.
    """
    program = """
import torch, oddkout as oko
generator = torch.Generator().manual_seed(1)
logits = 2 * torch.randn(1_000_000, 5, generator=generator)
labels = (logits / 1.5).softmax(dim=1).multinomial(1, generator=generator)[:, 0]
given = {"logits": logits, "labels": labels}
truth = {
    "accuracy": oko.metrics.accuracy(**given).item(),
    "nll": oko.metrics.negative_log_likelihood(**given).item(),
    "brier": oko.metrics.brier_score(**given).item(),
}
reports = [
    oko.evaluate(rows, classes, replicates=300)
    for rows, classes in zip(logits[:100_000].split(200), labels[:100_000].split(200))
]
truth["ece"] = sum(report["ece"].value for report in reports) / 500
for name, value in truth.items():
    print(name, sum(report[name].low <= value <= report[name].high for report in reports))
"""
    here = os.environ | {"PYTHONPATH": str(Path(oko.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=here
    )
    covered = {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}
    print(covered)
    assert covered.keys() == {"accuracy", "nll", "brier", "ece"}
    assert all(460 <= count <= 490 for count in covered.values()), covered


@pytest.mark.parametrize(("examples", "expected"), [(100, 0.114), (1000, 0.037)])
def test_the_null_level_of_a_calibrated_ten_class_model(examples, expected):
    """Known values for confident models; labels drawn by other means than in the library."""
    logits, labels = drawn(examples, scale=3.0)
    report = oko.evaluate(logits, labels, bins=15)
    assert report["ece"].null.mean == pytest.approx(expected, rel=0.12)
    redrawn = [
        metrics.expected_calibration_error(
            logits=logits,
            labels=logits.softmax(dim=1).multinomial(1, generator=generator(seed))[:, 0],
        ).item()
        for seed in range(300)
    ]
    sigma = np.std(redrawn) / math.sqrt(300) + np.std(redrawn) / math.sqrt(1000)
    assert abs(report["ece"].null.mean - np.mean(redrawn)) < 4 * sigma
    assert report["ece"].null.high == pytest.approx(np.quantile(redrawn, 0.95), rel=0.08)


@pytest.mark.parametrize("name", CALIBRATION_ERRORS)
def test_null_levels_of_all_errors_are_those_of_redrawn_labels(name):
    errors = {
        "ece": metrics.expected_calibration_error,
        "ece_equal_mass": lambda **given: metrics.expected_calibration_error(
            **given, binning="equal-mass"
        ),
        "maximum_ece": metrics.maximum_calibration_error,
        "debiased_ece": metrics.debiased_calibration_error,
        "smooth_ece": metrics.smooth_calibration_error,
        "classwise_ece": metrics.classwise_calibration_error,
        "brier_reliability": lambda **given: metrics.brier_decomposition(**given).reliability,
        "entropy_gap": metrics.entropy_gap,
    }
    logits, labels = drawn(300, 4)
    source = generator(1)
    redrawn = [
        errors[name](
            logits=logits, labels=logits.softmax(dim=1).multinomial(1, generator=source)[:, 0]
        ).item()
        for _ in range(300)
    ]
    null = resampler(logits, labels, replicates=2000).null()[name].double()
    sigma = np.std(redrawn) * math.sqrt(1 / 300 + 1 / 2000)
    assert abs(null.mean().item() - np.mean(redrawn)) < 4 * sigma


def test_replicates_are_the_metrics_of_resampled_examples():
    """Each kind of replicate, against the public metrics on explicitly repeated rows."""
    logits, labels = drawn(60, 4)
    sampler = resampler(logits, labels, replicates=20, bins=5)
    replicates = sampler.bootstrap()
    again = resampler(logits, labels, replicates=20, bins=5)
    weights = torch.from_numpy(np.concatenate(list(again._drawn_weights()), axis=1)).long()
    assert (weights.sum(dim=0) == 60).all()
    for column in range(20):
        rows = torch.arange(60).repeat_interleave(weights[:, column])
        given = {"logits": logits[rows], "labels": labels[rows]}
        parts = metrics.brier_decomposition(**given, bins=5)
        expected = {
            "nll": metrics.negative_log_likelihood(**given),
            "brier": metrics.brier_score(**given),
            "entropy": metrics.entropy(given["logits"]).mean(),
            "relative_cross_entropy": metrics.relative_cross_entropy(**given).mean(),
            "entropy_gap": metrics.entropy_gap(**given),
            "ece": metrics.expected_calibration_error(**given, bins=5),
            "maximum_ece": metrics.maximum_calibration_error(**given, bins=5),
            "smooth_ece": metrics.smooth_calibration_error(**given),
            "classwise_ece": metrics.classwise_calibration_error(**given, bins=5),
            "brier_uncertainty": parts.uncertainty,
            "brier_resolution": parts.resolution,
            "brier_reliability": parts.reliability,
            "correctness_auroc": metrics.correctness_auroc(**given),
            "risk_coverage_area": metrics.risk_coverage(**given).area,
        }
        for name, value in expected.items():
            assert replicates[name][column].item() == pytest.approx(value.item(), abs=2e-4), name


def test_p_values_are_uniform_for_calibrated_models_and_small_under_temperature_2():
    p_values, p_values_hot = [], []
    for seed in range(250):
        logits, labels = drawn(150, 4, seed=seed)
        estimate = metrics.expected_calibration_error(logits=logits, labels=labels).item()
        null = resampler(logits, labels, seed=seed).null()["ece"]
        p_values.append(null_level(estimate, null).p_value)
    assert kstest(p_values, "uniform").pvalue > 0.01
    for seed in range(10):
        logits, labels = drawn(500, 4, seed=seed, temperature=2.0)
        report = oko.evaluate(logits, labels, replicates=200)
        p_values_hot.append(report["ece"].null.p_value)
        assert report.verdict.startswith("evidence of overconfidence")
    assert max(p_values_hot) < 0.01


def test_the_interval_of_a_mean_has_the_levels_of_bca():
    """With an exactly normal, unbiased bootstrap the limits are 1.96 standard errors away."""
    normal = torch.special.ndtri((torch.arange(9999, dtype=torch.float64) + 0.5) / 9999)
    low, high = bootstrap_interval(0.0, normal)
    assert (low, high) == pytest.approx((-1.96, 1.96), abs=0.01)
    low, high = bootstrap_interval(0.0, normal, acceleration=0.05)  # Efron's formula by hand
    expected = [z / (1 - 0.05 * z) for z in (-1.95996, 1.95996)]
    assert (low, high) == pytest.approx(tuple(expected), abs=0.02)
    low, high = bootstrap_interval(0.5, normal)  # bias: replicates lie half a sigma too low
    assert (low, high) == pytest.approx((2 * 0.5 - 1.96, 2 * 0.5 + 1.96), abs=0.02)


def test_shares_that_are_all_one_have_wide_intervals():
    assert float(clopper_pearson(0, 10)[1]) == pytest.approx(1 - 0.025 ** (1 / 10))
    assert tuple(map(float, clopper_pearson(0, 0))) == (0.0, 1.0)
    mean, low, high = mean_of_shares(np.array([10.0, 10.0]), np.array([10.0, 10.0]))
    one = float(clopper_pearson(10, 10)[0])
    assert (mean, high) == (1.0, 1.0)
    assert low == pytest.approx(1 - (1 - one) / math.sqrt(2))


def test_the_report_says_what_the_numbers_support():
    logits, labels = drawn(100, scale=3.0)
    report = oko.evaluate(logits, labels)
    assert report.verdict.startswith("no evidence of miscalibration: ECE ")
    assert f"scores {report['ece'].null.mean:.3g} on 100 examples" in report.verdict
    cold = oko.evaluate(logits / 4, labels)
    assert cold.verdict.startswith("evidence of underconfidence")
    table = str(report)
    assert repr(report) == table, "so that a notebook shows it"
    for name, found in report.metrics.items():
        assert f"\n{METRICS[name].title:<24}{found.value:>8.4f}" in table
        assert found.low <= found.value <= found.high, name
        assert (found.null is not None) == (name in CALIBRATION_ERRORS)
    assert report.verdict in table


def test_miscalibrated_classes_are_seen_behind_honest_confidence():
    """Half the examples say 0.9 : 0.1 too boldly and half too shyly, class by class."""
    generous = torch.tensor([[0.7, 0.3]]).expand(2000, 2)
    probs = torch.cat([generous, generous.flip(1)])
    labels = torch.cat([torch.arange(2000) % 10 >= 9, torch.arange(2000) % 10 >= 5]).long()
    report = oko.evaluate(probs=probs, labels=labels, replicates=200)
    assert report["ece"].null.p_value > 0.025
    assert report.verdict.startswith("evidence of miscalibrated classes, though not of confidence")


def test_the_same_seed_gives_the_same_numbers_and_no_global_is_touched():
    logits, labels = drawn(100)
    before = torch.random.get_rng_state()
    first, second = (oko.evaluate(logits, labels, replicates=100).to_dict() for _ in range(2))
    assert first == second
    assert torch.equal(before, torch.random.get_rng_state())
    assert first != oko.evaluate(logits, labels, replicates=100, seed=1).to_dict()


def test_probabilities_and_logits_give_the_same_report():
    logits, labels = drawn(200)
    from_logits = oko.evaluate(logits, labels, replicates=100)
    from_probs = oko.evaluate(probs=logits.softmax(dim=1).numpy(), labels=labels, replicates=100)
    for name, found in from_logits.metrics.items():
        assert from_probs[name].value == pytest.approx(found.value, abs=1e-6)
        assert from_probs[name].low == pytest.approx(found.low, abs=1e-3)


def test_json_of_impossible_events_is_strict():
    probs = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    report = oko.evaluate(probs=probs, labels=[0, 1, 1, 0], classes=["cat", "dog"], replicates=100)
    assert report["nll"].value == math.inf
    plain = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert plain["metrics"]["nll"]["value"] is None
    assert plain["notes"] == [
        "NLL is infinite: the true class has probability 0 in 1 of 4 examples, first in example 2"
    ]
    assert [result["name"] for result in plain["classes"]] == ["cat", "dog"]
    assert report.classes[1].accuracy.value == 0.5
    all_right = oko.evaluate(probs=probs, labels=[0, 1, 0, 0], replicates=100)
    assert math.isnan(all_right["correctness_auroc"].value)
    assert all_right.notes == ["correctness AUROC is undefined: all predictions are correct"]
    assert all_right["accuracy"].low < 0.5, "four examples prove little"
    json.dumps(all_right.to_dict(), allow_nan=False)


def test_classes_have_the_recall_and_precision_of_scikit_learn():
    logits, labels = drawn(400, 4)
    predicted = logits.argmax(dim=1)
    found = oko.evaluate(logits, labels, replicates=50).classes
    recall = recall_score(labels, predicted, average=None)
    precision = precision_score(labels, predicted, average=None)
    assert [result.accuracy.value for result in found] == pytest.approx(recall.tolist())
    assert [result.precision.value for result in found] == pytest.approx(precision.tolist())
    confidence = logits.softmax(dim=1).amax(dim=1)
    means = [confidence[predicted == column].mean().item() for column in range(4)]
    assert [result.confidence for result in found] == pytest.approx(means)
    assert [result.predicted for result in found] == predicted.bincount().tolist()


def test_groups_pool_the_examples_of_their_classes():
    logits, labels = drawn(400, 6)
    train = np.repeat(np.arange(6), [1, 2, 3, 4, 5, 6])
    report = oko.evaluate(logits, labels, train_labels=train, replicates=50)
    hits = (logits.argmax(dim=1) == labels).double()
    is_head = (labels == 4) | (labels == 5)
    assert report.groups["head"].value == pytest.approx(hits[is_head].mean().item())
    assert list(report.groups) == ["head", "middle", "tail"]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"logits": [[0.0, 1.0]], "labels": [0]}, "at least 2 examples, got 1; evaluate on more"),
        ({"logits": [[0.0], [1.0]], "labels": [0, 0]}, "at least 2 classes, got 1"),
        ({"logits": np.zeros((3, 2)), "labels": [0, 1, 1], "classes": ["a"]}, "every column .* 2,"),
        ({"logits": np.zeros((3, 2)), "labels": [0, 1, 1], "replicates": 3}, "at least 40, got 3"),
        ({"logits": np.zeros((3, 2)), "labels": [0, 1, 1], "bins": 0}, "bins must be at least 1"),
        ({"probs": np.zeros((3, 2)), "labels": [0, 1, 1]}, "row 0 sums to 0"),
        ({"logits": np.zeros((3, 2)), "labels": np.zeros((3, 1), int)}, "one axis"),
    ],
)
def test_bad_input_gets_one_sentence(given, text):
    with pytest.raises(ValueError, match=text) as raised:
        oko.evaluate(**given)
    assert "\n" not in str(raised.value)
