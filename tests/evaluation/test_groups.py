"""Evaluation by group: intervals and null levels for examples that depend on each other."""

import numpy as np
import pytest
import torch
from random_predictions import drawn

import oddkout as oko
from oddkout import metrics
from oddkout.evaluation.examples import Examples
from oddkout.evaluation.measured import null_level
from oddkout.evaluation.resampling import Resampler
from oddkout.metrics.influence import Units
from oddkout.metrics.predictions import read


def repeated(logits, labels, times):
    return logits.repeat_interleave(times, dim=0), labels.repeat_interleave(times)


def test_copies_of_examples_add_nothing_if_they_are_grouped():
    """Each example six times: the bootstrap by group is that of the examples themselves."""
    logits, labels = drawn(80, 3)
    many = repeated(logits, labels, 6)
    groups = np.arange(80).repeat(6)
    single = oko.evaluate(logits, labels, replicates=400)
    grouped = oko.evaluate(*many, groups=groups, replicates=400)
    naive = oko.evaluate(*many, replicates=400)
    for name in ("nll", "brier", "skill", "ece", "correctness_auroc"):
        assert grouped[name].value == pytest.approx(single[name].value), name
        assert grouped[name].low == pytest.approx(single[name].low, abs=1e-4), name
        assert grouped[name].high == pytest.approx(single[name].high, abs=1e-4), name
        assert naive[name].high - naive[name].low < 0.6 * (single[name].high - single[name].low)
    for name in ("accuracy", "balanced_accuracy", "mcc", "auroc", "average_precision"):
        widths = [report[name].high - report[name].low for report in (single, grouped, naive)]
        assert widths[1] == pytest.approx(widths[0], rel=0.15), name
        assert widths[2] < 0.7 * widths[0], name
    for before, after in zip(single.classes, grouped.classes, strict=True):
        for name in ("recall", "precision", "f1"):
            first, second = getattr(before, name), getattr(after, name)
            assert second.value == pytest.approx(first.value)
            assert second.high - second.low == pytest.approx(first.high - first.low, rel=0.2)


def test_null_levels_of_copies_are_those_of_the_examples():
    logits, labels = drawn(80, 3)
    many = repeated(logits, labels, 6)
    single = oko.evaluate(logits, labels)["ece"].null
    grouped = oko.evaluate(*many, groups=np.arange(80).repeat(6))["ece"].null
    naive = oko.evaluate(*many)["ece"].null
    assert grouped.mean == pytest.approx(single.mean, rel=0.05)
    assert grouped.p_value == pytest.approx(single.p_value, abs=0.05)
    assert naive.mean < 0.6 * single.mean


def test_a_drawn_group_is_drawn_as_a_whole():
    logits, labels = drawn(12, 3)
    codes = torch.tensor([0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 3])
    source = torch.Generator().manual_seed(0)
    sampler = Resampler(
        Examples.of(read(logits=logits, labels=labels)),
        bins=5,
        replicates=50,
        generator=source,
        units=Units(12, codes),
    )
    weights = np.concatenate(list(sampler._drawn_weights()), axis=1)
    for group in range(4):
        rows = weights[codes == group]
        assert (rows == rows[0]).all()
    _, first = np.unique(codes, return_index=True)
    assert (weights[first].sum(axis=0) == 4).all(), "as many groups are drawn as there are"


def test_calibrated_patients_are_seldom_called_miscalibrated():
    """Visits share the label and the calibrated prediction of their patient."""
    wrong = {True: 0, False: 0}
    groups = torch.arange(25).repeat_interleave(8)
    for seed in range(40):
        logits, labels = repeated(*drawn(25, 3, seed=seed), 8)
        examples = Examples.of(read(logits=logits, labels=labels))
        estimate = metrics.expected_calibration_error(logits=logits, labels=labels).item()
        for is_grouped in wrong:
            sampler = Resampler(
                examples,
                bins=15,
                replicates=80,
                generator=torch.Generator().manual_seed(seed),
                units=Units(200, groups if is_grouped else None),
            )
            wrong[is_grouped] += null_level(estimate, sampler.null()["ece"]).is_exceeded
    assert wrong[True] <= 5  # of 40 at 2.5 %: 1 is expected
    assert wrong[False] > 20


def test_the_text_says_that_groups_were_used_and_names_may_be_words():
    logits, labels = drawn(40, 3)
    groups = [f"patient {row // 4}" for row in range(40)]
    report = oko.evaluate(logits, labels, groups=groups, replicates=40)
    assert str(report).startswith("40 examples in 10 groups, 3 classes\nintervals and null levels")
    assert "on 40 examples in 10 groups (p = " in report.verdict
    assert report.to_dict()["group_count"] == 10
    assert report.notes == []
    numbers = torch.arange(40) // 4
    again = oko.evaluate(logits, labels, groups=numbers, replicates=40)
    assert again.to_dict() == report.to_dict()
    few = oko.evaluate(logits, labels, groups=numbers // 3, replicates=40)
    assert few.notes == ["there are only 4 groups: intervals from so few are not reliable"]


def test_groups_of_one_example_are_no_groups():
    logits, labels = drawn(40, 3)
    plain = oko.evaluate(logits, labels, replicates=40)
    assert oko.evaluate(logits, labels, groups=range(40), replicates=40).to_dict() == (
        plain.to_dict()
    )


@pytest.mark.parametrize(
    ("groups", "text"),
    [
        ([1, 2], "the group of each of the 3 examples, got 2"),
        ([1, None, 2], r"examples \[1\] have none"),
        ([1.0, 2.0, float("nan")], r"examples \[2\] have none"),
        (["a", "a", "a"], "at least 2 groups, got 1"),
    ],
)
def test_bad_groups_get_one_sentence(groups, text):
    with pytest.raises(ValueError, match=text):
        oko.evaluate(np.zeros((3, 2)), [0, 1, 1], groups=groups)
