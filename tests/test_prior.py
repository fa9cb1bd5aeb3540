"""The prior ledger: class frequencies in closed form, in double precision."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from oddkout.prior import PriorLedger, class_frequencies, requested_prior, uniform

TRAIN = (0.5, 0.3, 0.2)


def softmax(row):
    weights = [math.exp(value) for value in row]
    return [weight / sum(weights) for weight in weights]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=50))
def test_frequencies_are_counts_over_their_sum_and_an_absent_class_counts_half(labels):
    counts = [labels.count(label) or 0.5 for label in range(5)]
    expected = [count / sum(counts) for count in counts]
    frequencies = class_frequencies(labels, classes=5)
    assert frequencies.dtype == torch.float64
    assert frequencies.tolist() == pytest.approx(expected, rel=1e-14)


def test_labels_may_be_a_list_an_array_or_a_tensor():
    for labels in ([0, 2, 2], np.array([0, 2, 2]), torch.tensor([0, 2, 2])):
        assert class_frequencies(labels).tolist() == pytest.approx([1 / 3.5, 0.5 / 3.5, 2 / 3.5])


@pytest.mark.parametrize(
    ("labels", "options", "text"),
    [
        ([0, 3], {"classes": 3}, r"labels must lie in 0 \.\. 2, got 0 \.\. 3; number the classes"),
        ([-1, 1], {}, r"labels must lie in 0 \.\. 1, got -1 \.\. 1"),
        ([], {}, "labels must hold at least one example, got none"),
        ([0.5], {}, "labels must be integers"),
        ([0], {"classes": 0}, "classes must be at least 1, got 0"),
    ],
)
def test_labels_that_cannot_be_counted_are_refused(labels, options, text):
    with pytest.raises(ValueError, match=text):
        class_frequencies(labels, **options)


def test_a_prior_is_asked_for_by_name_or_by_number():
    assert requested_prior("train", train=TRAIN) == TRAIN
    assert requested_prior("uniform", train=TRAIN) == uniform(3) == (1 / 3, 1 / 3, 1 / 3)
    assert requested_prior([0.6, 0.3, 0.1], train=TRAIN) == pytest.approx((0.6, 0.3, 0.1))
    assert requested_prior(np.array([0.6, 0.3, 0.1]), train=TRAIN) == pytest.approx((0.6, 0.3, 0.1))


@pytest.mark.parametrize(
    ("prior", "text"),
    [
        ("equal", "prior must be one of 'train', 'uniform', got 'equal'"),
        ([0.5, 0.5], "prior must hold one frequency for each of the 3 classes, got 2"),
        ([0.5, 0.5, 0.0], "prior must be positive and sum to 1"),
        ([3, 2, 1], "prior must be positive and sum to 1, .* divide counts by their sum"),
        (0.5, "prior must be a list of one frequency for each"),
    ],
)
def test_other_priors_are_refused(prior, text):
    with pytest.raises(ValueError, match=text):
        requested_prior(prior, train=TRAIN)


@given(
    st.lists(st.floats(-5, 5), min_size=3, max_size=3),
    st.floats(0.2, 5),
    st.sampled_from([None, (0.1, 0.1, 0.8), TRAIN]),
)
def test_logits_follow_the_temperature_then_bayes_rule_then_the_adjustment(row, temperature, prior):
    assumed, stated, strength = uniform(3), TRAIN, 0.4
    ledger = PriorLedger(
        assumed=assumed, stated=stated, train=TRAIN, temperature=temperature, strength=strength
    )
    logits = ledger.logits(torch.tensor([row], dtype=torch.float64), prior=prior)

    tempered = softmax([value / temperature for value in row])
    odds = [p * s / a for p, s, a in zip(tempered, stated, assumed, strict=True)]
    adjusted = [value / share**strength for value, share in zip(odds, TRAIN, strict=True)]
    moved = [p * w / s for p, w, s in zip(adjusted, prior or stated, stated, strict=True)]
    expected = [value / sum(moved) for value in moved]
    assert logits.softmax(dim=1)[0].tolist() == pytest.approx(expected, rel=1e-10)


def test_a_ledger_of_equal_priors_returns_the_logits_themselves():
    logits = torch.randn(4, 3, dtype=torch.float64)
    ledger = PriorLedger(assumed=TRAIN, stated=TRAIN, train=TRAIN)
    assert ledger.logits(logits) is logits
    torch.testing.assert_close(ledger.logits(logits, prior=TRAIN), logits, rtol=0, atol=0)


def test_a_prior_and_back_is_where_it_started():
    logits = torch.randn(4, 3, dtype=torch.float64)
    there = PriorLedger(assumed=TRAIN, stated=uniform(3), train=TRAIN).logits(logits)
    back = PriorLedger(assumed=uniform(3), stated=TRAIN, train=TRAIN).logits(there)
    torch.testing.assert_close(back, logits, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"stated": (0.5, 0.5)}, "of the same classes, got 2 and 3"),
        ({"stated": (0.9, 0.2, 0.1)}, "prior must be positive and sum to 1"),
        ({"assumed": (1.0, 0.0, 0.0)}, "train_prior must be positive and sum to 1"),
        ({"temperature": 0.0}, "temperature must be"),
        ({"temperature": math.nan}, "temperature must be"),
        ({"strength": math.inf}, "strength must be a finite number"),
        ({"exponent": 0.0}, "exponent must be a positive number"),
        ({"train": (0.5, 0.5)}, "of the same classes, got 2 and 3"),
    ],
)
def test_what_is_no_ledger_is_refused(changes, text):
    with pytest.raises(ValueError, match=text):
        PriorLedger(**{"assumed": TRAIN, "stated": TRAIN, "train": TRAIN} | changes)


@pytest.mark.parametrize("prior", [None, (0.1, 0.1, 0.8)])
def test_members_are_calibrated_averaged_sharpened_and_then_moved(prior):
    ledger = PriorLedger(
        assumed=uniform(3), stated=TRAIN, train=TRAIN, temperature=2.0, strength=0.3, exponent=1.2
    )
    logits = torch.randn(4, 5, 3, dtype=torch.float64)
    for example, together in zip(logits, ledger.combined(logits, prior=prior), strict=True):
        probs = [ledger.logits(member[None]).softmax(dim=1)[0].tolist() for member in example]
        mean = [sum(column) / 5 for column in zip(*probs, strict=True)]
        powers = [
            value**1.2 * w / s for value, w, s in zip(mean, prior or TRAIN, TRAIN, strict=True)
        ]
        expected = [value / sum(powers) for value in powers]
        assert together.softmax(dim=0).tolist() == pytest.approx(expected, rel=1e-10)


def test_the_logits_of_one_network_are_combined_by_leaving_them():
    ledger = PriorLedger(assumed=TRAIN, stated=TRAIN, train=TRAIN, temperature=2.0, exponent=1.2)
    logits = torch.randn(4, 3, dtype=torch.float64)
    torch.testing.assert_close(ledger.combined(logits), logits / 2)
    torch.testing.assert_close(ledger.shift(), torch.zeros(3, dtype=torch.float64))
