"""Intervals from influences: bounds, groups, and coverage where the truth is known."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import norm, t

from oddkout.metrics.discrimination import class_rankings
from oddkout.metrics.influence import ClassMean, Units, grouped_share, influence_interval
from oddkout.metrics.predictions import read


def units(groups):
    return Units(len(groups), torch.as_tensor(groups))


def wilson(share, count, freedom):
    """The roots of (p - share) ** 2 = q ** 2 * p * (1 - p) / count."""
    square = t.ppf(0.975, freedom) ** 2
    return np.sort(np.roots([1 + square / count, -2 * share - square / count, share**2]))


def test_groups_that_agree_count_as_one_trial_each():
    """Five identical examples per group carry the information of one."""
    hits = torch.tensor([1.0, 1, 0, 1, 0, 1, 1, 0]).repeat_interleave(5)
    groups = torch.arange(8).repeat_interleave(5)
    share, limits = grouped_share(hits, torch.ones(40, dtype=torch.bool), units(groups))
    assert share == 0.625
    # The variance has 8 - 1 in its denominator, so that 8 trials count as 7.
    assert tuple(limits) == pytest.approx(tuple(wilson(0.625, 7, 7)))


def test_a_perfect_share_of_groups_has_a_width():
    groups = torch.arange(6).repeat_interleave(10)
    every = torch.ones(60, dtype=torch.bool)
    share, limits = grouped_share(torch.ones(60), every, units(groups))
    assert share == limits.high == 1
    assert limits.low == pytest.approx(6 / (6 + t.ppf(0.975, 5) ** 2))
    assert math.isnan(grouped_share(torch.ones(60), ~every, units(groups))[0])
    assert grouped_share(torch.ones(60), groups == 2, units(groups)) == (1.0, (0.0, 1.0))


def test_perfect_statistics_have_a_width_within_their_bounds():
    probs = np.repeat([[0.9, 0.1], [0.2, 0.8]], [30, 4], axis=0)
    labels = np.repeat([0, 1], [30, 4])
    mean = ClassMean(Units(34))
    for ranking in class_rankings(read(probs=probs, labels=labels)):
        is_class = torch.from_numpy(labels == ranking.column)
        low, high = mean.add(ranking.auroc.item(), ranking.auroc_influence, is_class)
        assert 0.3 < low < 0.9
        assert high == 1
    assert mean.value == 1
    assert 0.3 < mean.limits.low < 0.9
    assert mean.limits.high == 1
    low, high = influence_interval(1.0, torch.zeros(34), Units(34), smallest=4, lowest=-1)
    assert -1 < low < 0.5
    assert high == 1


def test_the_variance_of_auroc_is_that_of_delong():
    """By pairs of examples, for a class that is frequent enough to be judged by its variance."""
    rng = np.random.default_rng(0)
    labels = np.arange(90) < 40
    scores = norm.cdf(rng.normal(size=90) + 0.8 * labels)
    order = (scores[labels][:, None] > scores[~labels]).astype(float)
    area = order.mean()
    influence = np.zeros(90)
    influence[labels] = (order.mean(axis=1) - area) * 90 / 40
    influence[~labels] = (order.mean(axis=0) - area) * 90 / 50
    variance = (influence**2).sum() / (90 * 89)
    assert area * (1 - area) / variance < 4 * 40 * 50 / 90, "else the size of the class counts"
    probs = np.stack([1 - scores, scores], axis=1)
    [_, ranking] = class_rankings(read(probs=probs, labels=labels.astype(int)))
    limits = ClassMean(Units(90)).add(
        ranking.auroc.item(), ranking.auroc_influence, torch.tensor(labels)
    )
    assert tuple(limits) == pytest.approx(tuple(wilson(area, area * (1 - area) / variance, 39)))


@pytest.mark.parametrize("lowest", [0, -1])
def test_an_interval_has_the_limits_of_its_formula(lowest):
    """The statistic is a mean; its scale is stretched to begin at the lowest value."""
    values = torch.tensor([1.0, 0, 1, 1, 1, 0, 1, 1, 0, 1], dtype=torch.float64)
    influence = (values - 0.7) * (1 - lowest)
    limits = influence_interval(
        lowest + 0.7 * (1 - lowest), influence, Units(10), smallest=3, lowest=lowest
    )
    freedom = 3 * (7 * 0.09 + 3 * 0.49) ** 2 / (7 * 0.09**2 + 3 * 0.49**2) - 1
    expected = lowest + (1 - lowest) * wilson(0.7, 9, freedom)  # 0.21 / (2.1 / 90)
    assert tuple(limits) == pytest.approx(tuple(expected))


def test_without_defined_classes_there_is_no_interval():
    mean = ClassMean(Units(3))
    assert all(map(math.isnan, mean.add(math.nan, torch.zeros(3), torch.zeros(3) > 0)))
    assert math.isnan(mean.value)
    assert all(map(math.isnan, mean.limits))
    limits = influence_interval(math.nan, torch.zeros(3), Units(3), smallest=1)
    assert all(map(math.isnan, limits))


@pytest.mark.parametrize(("positives", "distance"), [(8, 1.5), (40, 0.5), (40, 3.0)])
def test_intervals_of_auroc_cover_the_truth(positives, distance):
    """Two normal classes: the AUROC is Phi(distance / sqrt(2)). 300 data sets of 200 examples."""
    rng = np.random.default_rng(positives)
    truth = norm.cdf(distance / math.sqrt(2))
    labels = np.arange(200) < positives
    covered = 0
    for _ in range(300):
        scores = norm.cdf(rng.normal(size=200) + distance * labels)
        probs = np.stack([1 - scores, scores], axis=1)
        [_, ranking] = class_rankings(read(probs=probs, labels=labels.astype(int)))
        mean = ClassMean(Units(200))
        limits = mean.add(ranking.auroc.item(), ranking.auroc_influence, torch.tensor(labels))
        covered += limits.low <= truth <= limits.high
    # Three standard errors below 95 %; rare classes get wide intervals on purpose.
    assert covered >= 273


def test_intervals_by_group_cover_the_truth_where_others_do_not():
    """30 groups of 6 equal outcomes: the share is that of 30 coin tosses, not of 180."""
    rng = np.random.default_rng(0)
    groups = torch.arange(30).repeat_interleave(6)
    every = torch.ones(180, dtype=torch.bool)
    covered = {True: 0, False: 0}
    for _ in range(400):
        hits = torch.from_numpy(rng.random(30) < 0.7).repeat_interleave(6)
        for is_grouped in covered:
            own = units(groups if is_grouped else torch.arange(180))
            _, limits = grouped_share(hits, every, own)
            covered[is_grouped] += limits.low <= 0.7 <= limits.high
    assert covered[True] >= 367  # three standard errors below 380
    assert covered[False] < 300
