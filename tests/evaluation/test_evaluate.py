"""Intervals cover the truth, and null levels are those of calibrated models."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from random_predictions import drawn
from sklearn.metrics import precision_score, recall_score

import oddkout as oko
from oddkout import metrics


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


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
    assert report["ece"].null.high == pytest.approx(np.quantile(redrawn, 0.975), rel=0.08)


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
