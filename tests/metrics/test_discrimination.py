"""AUROC and average precision are those of scikit-learn, and so are their derivatives."""

import numpy as np
import pytest
from random_predictions import drawn
from sklearn.metrics import average_precision_score, roc_auc_score

from oddkout import metrics
from oddkout.metrics.discrimination import class_rankings
from oddkout.metrics.predictions import read


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("decimals", [1, 12])
def test_both_are_those_of_scikit_learn_with_and_without_ties(classes, decimals):
    logits, labels = drawn(300, classes)
    probs = logits.softmax(dim=1).numpy().round(decimals)
    probs[:, 0] = (1 - probs[:, 1:].sum(axis=1)).round(decimals)
    probs = probs[probs[:, 0] >= 0]
    labels = labels[: len(probs)]
    is_class = np.eye(classes)[labels]
    for overall, each, theirs in (
        (metrics.auroc, metrics.per_class_auroc, roc_auc_score),
        (metrics.average_precision, metrics.per_class_average_precision, average_precision_score),
    ):
        expected = [theirs(is_class[:, c], probs[:, c]) for c in range(classes)]
        np.testing.assert_allclose(each(probs, labels), expected)
        assert overall(probs, labels).item() == pytest.approx(np.mean(expected))


def test_logits_rank_like_their_probabilities():
    logits, labels = drawn(200, 3)
    probs = logits.softmax(dim=1)
    for metric in (metrics.auroc, metrics.average_precision):
        assert metric(logits=logits, labels=labels).item() == pytest.approx(
            metric(probs, labels).item()
        )


def test_two_classes_have_one_auroc_but_two_average_precisions():
    logits, labels = drawn(100, 2)
    first, second = metrics.per_class_auroc(logits=logits, labels=labels).tolist()
    assert first == pytest.approx(second)
    first, second = metrics.per_class_average_precision(logits=logits, labels=labels).tolist()
    assert first != pytest.approx(second)


def test_absent_classes_are_left_out_and_a_single_class_is_undefined():
    logits, labels = drawn(60, 3)
    two = labels % 2
    areas = metrics.per_class_auroc(logits=logits, labels=two)
    assert areas[2].isnan()
    assert metrics.auroc(logits=logits, labels=two).item() == areas[:2].mean().item()
    assert metrics.auroc(logits=logits, labels=two * 0).isnan()
    assert metrics.average_precision(logits=logits, labels=two * 0).isnan()


@pytest.mark.parametrize("is_tied", [False, True])
def test_influences_are_derivatives(is_tied):
    """By scikit-learn, with a slightly larger or smaller weight on one example."""
    logits, labels = drawn(80, 3)
    probs = logits.softmax(dim=1).numpy()
    if is_tied:
        probs = np.maximum(probs.round(1), 0.1)
        probs /= probs.sum(axis=1, keepdims=True)
    for ranking in class_rankings(read(probs=probs, labels=labels)):
        is_class, scores = (labels == ranking.column).numpy(), probs[:, ranking.column]
        for influence, theirs in (
            (ranking.auroc_influence, roc_auc_score),
            (ranking.precision_influence, average_precision_score),
        ):
            assert influence.mean().item() == pytest.approx(0, abs=1e-12)
            for example in range(0, 80, 9):
                values = []
                for sign in (-1, 1):
                    weights = np.ones(80)
                    weights[example] += sign * 80e-6
                    values.append(theirs(is_class, scores, sample_weight=weights))
                slope = (values[1] - values[0]) / 2e-6
                assert influence[example].item() == pytest.approx(slope, abs=1e-4)
