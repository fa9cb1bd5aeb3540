"""Scores of out-of-fold predictions."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from oddkout.estimator.out_of_fold import out_of_fold_score


def predictions(examples, seed=0):
    generator = np.random.default_rng(seed)
    probs = generator.dirichlet([1.0, 2.0, 3.0], size=examples)
    return probs, np.array([generator.choice(3, p=row) for row in probs])


def test_the_interval_is_that_of_a_mean_with_one_more_loss_above():
    probs, labels = predictions(50)
    score = out_of_fold_score(probs, labels)
    nll = -np.log(probs[np.arange(50), labels])
    below = ttest_1samp(nll, 0).confidence_interval(0.95)
    above = ttest_1samp([*nll, np.log(51)], 0).confidence_interval(0.95)
    assert score.value == pytest.approx(nll.mean())
    assert (score.low, score.high) == pytest.approx((below.low, above.high))


def test_perfect_predictions_of_few_examples_leave_room_for_an_error():
    probs = np.tile([1 - 1e-9, 1e-9], (30, 1))
    score = out_of_fold_score(probs, np.zeros(30, dtype=np.int64))
    assert score.value < 1e-8
    assert score.high > np.log(31) / 31


def test_examples_that_are_not_scored_do_not_count():
    probs, labels = predictions(50)
    gaps = np.concatenate([probs, np.full((7, 3), np.nan)])
    longer = np.concatenate([labels, np.zeros(7, dtype=np.int64)])
    assert out_of_fold_score(gaps, longer) == out_of_fold_score(probs, labels)
    assert out_of_fold_score(gaps[49:], longer[49:]) is None


def test_copies_in_a_group_do_not_narrow_the_interval():
    probs, labels = predictions(50)
    single = out_of_fold_score(probs, labels)
    groups = np.repeat(np.arange(50), 4)
    copies = out_of_fold_score(probs.repeat(4, axis=0), labels.repeat(4), groups=groups)
    assert (copies.value, copies.low, copies.high) == pytest.approx(
        (single.value, single.low, single.high)
    )
    naive = out_of_fold_score(probs.repeat(4, axis=0), labels.repeat(4))
    assert naive.high < copies.high
