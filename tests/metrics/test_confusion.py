"""Precision, F1 and Matthews' correlation are those of scikit-learn."""

import math

import numpy as np
import pytest
import torch
from random_predictions import drawn
from sklearn import metrics as sklearn_metrics

from oddkout import metrics
from oddkout.metrics.confusion import correlation_influence


@pytest.mark.parametrize("classes", [2, 5])
def test_all_are_those_of_scikit_learn(classes):
    logits, labels = drawn(300, classes)
    predicted = logits.argmax(dim=1)
    given = {"logits": logits, "labels": labels}
    matrix = sklearn_metrics.confusion_matrix(labels, predicted)
    np.testing.assert_array_equal(metrics.confusion_matrix(**given), matrix)
    for ours, theirs in (
        (metrics.per_class_precision, sklearn_metrics.precision_score),
        (metrics.per_class_f1, sklearn_metrics.f1_score),
    ):
        np.testing.assert_allclose(ours(**given), theirs(labels, predicted, average=None))
    expected = sklearn_metrics.matthews_corrcoef(labels, predicted)
    assert metrics.matthews_correlation(**given).item() == pytest.approx(expected, rel=1e-12)


def test_classes_that_are_absent_or_never_predicted():
    """Class 1 is never predicted, class 2 never occurs, class 3 neither."""
    probs = np.eye(4)[[0, 0, 2]]
    precision = metrics.per_class_precision(probs, [0, 1, 1]).tolist()
    assert precision[0] == 0.5
    assert math.isnan(precision[1])
    assert precision[2] == 0.0
    assert math.isnan(precision[3])
    f1 = metrics.per_class_f1(probs, [0, 1, 1]).tolist()
    assert f1[:3] == pytest.approx([2 / 3, 0.0, 0.0])
    assert math.isnan(f1[3])


def test_predictions_of_one_class_know_nothing_and_labels_of_one_class_say_nothing():
    assert metrics.matthews_correlation(np.eye(2)[[0, 0, 0]], [0, 1, 1]).item() == 0.0
    assert metrics.matthews_correlation(np.eye(2)[[0, 1, 0]], [0, 1, 0]).item() == 1.0
    assert metrics.matthews_correlation(np.eye(2)[[0, 1, 0]], [1, 0, 1]).item() == -1.0
    assert metrics.matthews_correlation(np.eye(2)[[0, 1, 0]], [0, 0, 0]).isnan()


def test_the_influence_on_the_correlation_is_its_derivative():
    """By scikit-learn, with a slightly larger weight on one example."""
    logits, labels = drawn(80, 3)
    predicted = logits.argmax(dim=1)
    influence = correlation_influence(labels, predicted, classes=3)
    assert influence.mean().item() == pytest.approx(0, abs=1e-12)
    for example in range(10):
        step = 1e-6
        scores = []
        for sign in (-1, 1):
            weights = torch.full((80,), 1.0, dtype=torch.float64)
            weights[example] += sign * step * 80
            scores.append(
                sklearn_metrics.matthews_corrcoef(labels, predicted, sample_weight=weights)
            )
        slope = (scores[1] - scores[0]) / (2 * step)
        assert influence[example].item() == pytest.approx(slope, abs=1e-5)
