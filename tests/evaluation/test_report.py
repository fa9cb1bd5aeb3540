"""The report says what its numbers support."""

import json
import math

import numpy as np
import torch
from random_predictions import drawn

import oddkout as oko
from oddkout.evaluation.resampling import CALIBRATION_ERRORS
from oddkout.metrics.catalogue import METRICS


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


def test_miscalibration_too_small_to_matter_is_not_called_evidence():
    """Confidence 0.904, accuracy 0.9 on 200,000 examples: a gap that is significant, but small."""
    labels = (torch.arange(200_000) % 10 == 9).long()
    report = oko.evaluate(
        probs=torch.tensor([[0.904, 0.096]]).expand(200_000, 2), labels=labels, replicates=40
    )
    assert report["ece"].null.is_exceeded
    assert report["ece"].null.mean < 0.001, "rounding of a large sum is no calibration error"
    assert report.verdict.startswith("no relevant miscalibration: ECE 0.004, while")
    assert report.verdict.endswith("but errors below 0.005 are too small to matter")
    larger = oko.evaluate(
        probs=torch.tensor([[0.906, 0.094]]).expand(200_000, 2), labels=labels, replicates=40
    )
    assert larger.verdict.startswith("evidence of overconfidence: ECE 0.006")


def test_tiny_classwise_errors_are_too_small_to_matter():
    """Nearly certain and always right: the error is that of the last digits."""
    probs = torch.tensor([[1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9]], dtype=torch.float64)
    report = oko.evaluate(probs=probs.repeat(500, 1), labels=[0, 1] * 500, replicates=40)
    assert not report.verdict.startswith("evidence")


def test_the_json_holds_classes_confusion_and_guess():
    logits, labels = drawn(60, 3)
    report = oko.evaluate(logits, labels, replicates=40)
    plain = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert plain["confusion"] == report.confusion.tolist()
    assert plain["group_count"] is None
    assert plain["guess"]["source"] == "of the labels"
    for result in plain["classes"]:
        assert result["recall"] == result["accuracy"]
        assert result["f1"].keys() == result["auroc"].keys() == {"value", "low", "high"}
