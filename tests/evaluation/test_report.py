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
