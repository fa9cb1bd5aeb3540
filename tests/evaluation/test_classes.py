"""Results of classes: undefined values, exact intervals, and their coverage."""

import math

import numpy as np
import pytest
from random_predictions import drawn
from scipy.stats import beta
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

import oddkout as oko
from oddkout import metrics
from oddkout.evaluation.classes import class_results, matthews
from oddkout.evaluation.examples import Examples
from oddkout.metrics.influence import Units
from oddkout.metrics.predictions import read


def test_classes_have_the_f1_auroc_and_average_precision_of_scikit_learn():
    logits, labels = drawn(300, 4)
    report = oko.evaluate(logits, labels, replicates=40)
    probs, is_class = logits.softmax(dim=1).numpy(), np.eye(4)[labels]
    expected = f1_score(labels, probs.argmax(axis=1), average=None)
    assert [result.f1.value for result in report.classes] == pytest.approx(expected.tolist())
    for name, theirs in (("auroc", roc_auc_score), ("average_precision", average_precision_score)):
        each = [theirs(is_class[:, c], probs[:, c]) for c in range(4)]
        assert [getattr(one, name).value for one in report.classes] == pytest.approx(each)
        assert report[name].value == pytest.approx(np.mean(each))
    given = {"logits": logits, "labels": labels}
    assert report["mcc"].value == pytest.approx(metrics.matthews_correlation(**given).item())
    assert report["skill"].value == pytest.approx(metrics.log_loss_skill(**given).item())
    np.testing.assert_array_equal(report.confusion, metrics.confusion_matrix(**given))


def test_the_interval_of_f1_is_that_of_the_overlap_of_labels_and_predictions():
    """6 hits, 2 missed and 1 false alarm: 6 of 9, and F1 = 2 s / (1 + s)."""
    labels = [1] * 8 + [0] * 11
    probs = np.eye(2)[[1] * 6 + [0] * 2 + [1] + [0] * 10]
    found = oko.evaluate(probs=probs, labels=labels, replicates=40).classes[1].f1
    limits = beta.ppf([0.025, 0.975], [6, 7], [4, 3])
    assert found.value == pytest.approx(12 / 15)
    assert (found.low, found.high) == pytest.approx(tuple(2 * limits / (1 + limits)))


def test_perfect_predictions_have_no_interval_without_width():
    probs = np.array([[0.9, 0.1]] * 12 + [[0.2, 0.8]] * 4)
    report = oko.evaluate(probs=probs, labels=[0] * 12 + [1] * 4, replicates=40)
    for name in ("accuracy", "balanced_accuracy", "mcc", "auroc", "average_precision"):
        assert report[name].value == report[name].high == 1, name
        assert report[name].low < 0.95, name
    for result in report.classes:
        for part in (result.recall, result.precision, result.f1, result.auroc):
            assert part.low < part.value == part.high == 1


def test_classes_that_are_absent_or_never_predicted_are_undefined_and_noted():
    probs = np.array([[0.6, 0.3, 0.1]] * 6)
    report = oko.evaluate(probs=probs, labels=[0, 0, 0, 0, 1, 1], classes=["a", "b", "c"])
    first, second, third = report.classes
    assert (second.recall.value, second.predicted, second.f1.value) == (0.0, 0, 0.0)
    assert math.isnan(second.precision.value)
    assert (second.precision.low, second.precision.high) == (0, 1)
    assert math.isnan(third.recall.value)
    assert math.isnan(third.auroc.value)
    assert math.isnan(third.f1.value)
    assert first.auroc.value == 0.5
    assert report["balanced_accuracy"].value == 0.5
    assert "means over classes leave out [c], which have no examples" in report.notes
    single = oko.evaluate(probs=probs, labels=[0] * 6)
    assert math.isnan(single["auroc"].value)
    assert math.isnan(single["skill"].value)
    assert "MCC, AUROC, average precision are undefined: all examples are of one class" in (
        single.notes
    )


def test_predictions_of_one_class_have_no_correlation_but_may_have_missed_rare_hits():
    """594 : 6, and the rare class is never predicted."""
    report = oko.evaluate(probs=[[0.99, 0.01]] * 600, labels=[0] * 594 + [1] * 6, replicates=40)
    found = report["mcc"]
    assert found.value == 0
    assert found.low == pytest.approx(-1.96 / math.sqrt(600), rel=0.01)
    assert 0.5 < found.high < 0.9


def test_skill_is_against_the_prior_the_training_labels_or_the_labels():
    logits, labels = drawn(100, 2)
    train = [0] * 70 + [1] * 30
    cases = (
        ({}, "of the labels", np.bincount(labels) / 100),
        ({"train_labels": train}, "of the training data", [0.7, 0.3]),
        ({"train_labels": train, "prior": [0.2, 0.8]}, "that were given", [0.2, 0.8]),
    )
    for given, source, prior in cases:
        report = oko.evaluate(logits, labels, replicates=40, **given)
        expected = metrics.log_loss_skill(logits, labels, prior=prior).item()
        assert report["skill"].value == pytest.approx(expected)
        assert report["skill"].low < report["skill"].value < report["skill"].high
        assert report.guess.source == source
        assert report.guess.accuracy == (labels == int(np.argmax(prior))).double().mean().item()
        assert f"guessing the class frequencies {source} scores NLL" in str(report)


def test_intervals_cover_the_truth():
    """150 data sets of 150 examples; 4 standard errors below 95 % is 132. Truth: a large sample.

    ``benchmarks/intervals.py`` has larger simulations, with rare classes and groups.
    """
    logits, labels = drawn(100_000, 3, seed=1)
    given = {"logits": logits, "labels": labels}
    truth = {
        "mcc": metrics.matthews_correlation(**given).item(),
        "auroc": metrics.auroc(**given).item(),
        "average_precision": metrics.average_precision(**given).item(),
    }
    covered = dict.fromkeys(truth, 0)
    units = Units(150)
    for rows, classes in zip(logits[:22_500].split(150), labels[:22_500].split(150), strict=True):
        examples = Examples.of(read(logits=rows, labels=classes))
        found = class_results(examples, "abc", units)[1] | {"mcc": matthews(examples, units)}
        for name, value in truth.items():
            covered[name] += found[name].low <= value <= found[name].high
    assert all(count >= 132 for count in covered.values()), covered
