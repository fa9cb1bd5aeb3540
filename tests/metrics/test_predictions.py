"""Predictions are read in all forms, and bad ones are refused."""

import math

import numpy as np
import pytest
import torch
from random_predictions import overconfident

from oddkout import metrics


def test_logits_of_any_size_are_safe():
    logits = torch.tensor([[1e4, 0.0], [0.0, -1e4], [3e38, -3e38]])
    assert metrics.cross_entropy(logits, [0, 0, 0]).tolist() == [0.0, 0.0, 0.0]
    assert metrics.cross_entropy(logits, [1, 1, 0]).tolist() == [1e4, 1e4, 0.0]
    assert metrics.expected_calibration_error(logits=logits, labels=[0, 0, 0]).item() == 0.0
    logits, labels = overconfident()
    shifted = logits + 1e5
    plain = metrics.brier_score(logits=logits, labels=labels).item()
    assert metrics.brier_score(logits=shifted, labels=labels).item() == pytest.approx(plain)


@pytest.mark.parametrize(
    "convert", [lambda t: t.tolist(), lambda t: t.numpy(), lambda t: t.double()]
)
def test_lists_arrays_and_tensors_are_read_alike(convert):
    logits, labels = overconfident(examples=50)
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
