"""Checks return clean values, and their errors say what to do."""

import numpy as np
import pytest
import torch

from oddkout import ClassIndex
from oddkout.checks import at_least, class_labels, few, one_of, prediction_matrix


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ([], "labels must hold at least one example, got none"),
        ([0.0, 1.0], "labels must be integers, got torch.float32; convert them"),
        ([0, float("nan"), 1], r"labels must be integers, got NaN at positions \[1\]; drop or"),
        ([[0, 1], [1, 0]], r"one axis, .* got shape \(2, 2\); .* argmax"),
        (["cat", "dog"], "flat list of integers.*map class names to integers"),
        ([[0], [1, 2]], "rows of different lengths"),
    ],
)
@pytest.mark.parametrize("check", [class_labels, ClassIndex])
def test_bad_labels_are_refused(check, labels, text):
    with pytest.raises(ValueError, match=text):
        check(labels)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: at_least("k", 0, 1), "k must be at least 1, got 0"),
        (lambda: at_least("k", True, 1), "k must be a whole number, got True"),
        (lambda: one_of("targets", "warm", ("hard", "soft")), "one of 'hard', 'soft', got 'warm'"),
    ],
)
def test_bad_values_are_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_predictions_are_not_copied_unless_they_must_be():
    array = np.zeros((2, 3), np.float32)
    assert prediction_matrix("probs", array).data_ptr() == array.ctypes.data
    assert prediction_matrix("probs", torch.zeros(2, 3).half()).dtype == torch.float32


def test_long_lists_are_cut_after_eight_entries():
    assert few([1, 2]) == "[1, 2]"
    assert few(range(9)) == "[0, 1, 2, 3, 4, 5, 6, 7, ...] (9 in all)"
