"""Intervals that count training and test sample: closed forms, and coverage in simulations."""

import math

import numpy as np
import pytest
from scipy.stats import t
from sklearn.linear_model import LogisticRegression

from oddkout.comparing.statistics import (
    Estimate,
    approximate_estimate,
    crossed_estimate,
    pooled_variance,
)


def by_loops(values, units):
    """Two-way clustering, one sum at a time."""
    seeds = len(values)
    mean = np.mean([np.mean(own) for own in values])
    cells = [
        (seed, unit, (value - mean) / (seeds * len(own)))
        for seed, (own, names) in enumerate(zip(values, units, strict=True))
        for value, unit in zip(own, names, strict=True)
    ]
    names = {unit for _, unit, _ in cells}
    factor = len(names) / (len(names) - 1)
    by_unit = factor * sum(sum(r for _, u, r in cells if u == unit) ** 2 for unit in names)
    by_seed = sum(sum(r for s, _, r in cells if s == seed) ** 2 for seed in range(seeds))
    by_seed *= seeds / (seeds - 1)
    by_cell = factor * sum(r**2 for _, _, r in cells)
    return mean, by_unit, max(0.0, by_seed - by_cell)


@pytest.mark.parametrize("overlap", [0.0, 0.25])
def test_the_variance_is_that_of_two_way_clustering(overlap):
    rng = np.random.default_rng(0)
    units = [rng.choice(30, size=12, replace=False) for _ in range(4)]
    example = rng.normal(size=30)
    values = [example[own] + rng.normal() + 0.1 * rng.normal(size=12) for own in units]
    mean, by_unit, by_training = by_loops(values, units)
    found = crossed_estimate(values, units, overlap=overlap)
    assert found.mean == pytest.approx(mean)
    by_training *= 1 + 4 * overlap
    assert by_training > 0
    assert found.variance == pytest.approx(by_unit + by_training)
    size = len(set(np.concatenate(units)))
    assert found.size == size
    parts = by_unit**2 / (size - 1) + by_training**2 / 3
    assert found.freedom == pytest.approx((by_unit + by_training) ** 2 / parts)


def test_degrees_of_freedom_fall_with_rare_large_losses():
    """Satterthwaite's: twice the squared mean of a sum of squares over its variance."""
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=200) ** 3
    found = crossed_estimate([losses], [np.arange(200)])
    squares = [(loss - losses.mean()) ** 2 for loss in losses]
    variance = sum((square - sum(squares) / 200) ** 2 for square in squares)
    assert found.freedom == pytest.approx(2 * sum(squares) ** 2 / variance)
    assert found.freedom < 20
    normal = crossed_estimate([rng.normal(size=20_000)], [np.arange(20_000)])
    assert normal.freedom == pytest.approx(20_000, rel=0.1)


def test_one_seed_is_the_interval_of_a_mean():
    values = np.random.default_rng(0).normal(size=50)
    found = crossed_estimate([values], [np.arange(50)]).interval()
    half = t.ppf(0.975, 49) * values.std(ddof=1) / math.sqrt(50)
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half))


def test_repeating_a_test_part_or_its_groups_adds_no_evidence():
    values = np.random.default_rng(0).normal(size=50)
    once = crossed_estimate([values], [np.arange(50)])
    again = crossed_estimate([values] * 5, [np.arange(50)] * 5)
    assert again.variance == pytest.approx(once.variance)
    tripled = crossed_estimate([values.repeat(3)], [np.arange(50).repeat(3)])
    assert tripled.variance == pytest.approx(once.variance)


def test_metrics_that_are_no_means_are_treated_alike():
    """For a mean, whose standard error is known, the approximation is nearly exact."""
    rng = np.random.default_rng(0)
    units = [rng.choice(300, size=100, replace=False) for _ in range(5)]
    example = rng.normal(size=300)
    values = [example[own] + 0.5 * seed for seed, own in enumerate(units)]
    exact = crossed_estimate(values, units, overlap=0.5)
    means, errors = [v.mean() for v in values], [v.std(ddof=1) / 10 for v in values]
    near = approximate_estimate(means, errors, units, overlap=0.5)
    assert near.mean == pytest.approx(exact.mean)
    assert near.variance == pytest.approx(exact.variance, rel=0.1)
    same = approximate_estimate([0.5] * 5, [0.1] * 5, [np.arange(9)] * 5)
    apart = approximate_estimate([0.5] * 5, [0.1] * 5, np.split(np.arange(45), 5))
    assert same.variance == pytest.approx(0.01)
    assert apart.variance == pytest.approx(0.002)


def test_intervals_keep_to_their_bounds():
    perfect = crossed_estimate([np.ones(36)] * 3, [np.arange(36)] * 3)
    share = perfect.interval(lowest=0, highest=1)
    square = t.ppf(0.975, 35) ** 2
    assert share.high == pytest.approx(1)
    assert share.low == pytest.approx(36 / (36 + square)), "Wilson's, not a point at 100 %"
    loss = Estimate(mean=0.002, variance=0.01**2, freedom=30, size=31)
    positive = loss.interval(lowest=0)
    assert 0 < positive.low < 0.002 < positive.high
    assert loss.interval().low < 0
    assert math.isnan(crossed_estimate([np.ones(1)], [np.zeros(1)]).interval().low)


def test_more_comparisons_make_wider_intervals():
    one = Estimate(mean=0.0, variance=1.0, freedom=20, size=21)
    assert one.interval(comparisons=66).high == pytest.approx(t.ppf(1 - 0.025 / 66, 20))
    assert one.interval(lowest=-1, highest=2).low == -1


def made(count, rng):
    y = rng.choice(3, size=count, p=[0.6, 0.3, 0.1])
    centres = np.zeros((3, 4))
    centres[1, 0], centres[2, 1] = 1.2, 1.5
    return rng.normal(size=(count, 4)) + centres[y], y


def scores(model, x, y):
    probs = model.predict_proba(x)
    return -np.log(probs[np.arange(len(y)), y]), (probs.argmax(axis=1) == y).astype(float)


@pytest.mark.parametrize(("test_size", "seeds"), [(36, 3), (36, 5), (200, 3)])
def test_intervals_of_real_classifiers_cover_the_truth(test_size, seeds):
    """Logistic regression on new splits of one table; the truth is known from a large sample.

    The truth is the mean of the fitted classifiers. 150 simulations: a coverage of 95 % is found
    between 90 and 99 % with probability 0.995.
    """
    hidden = made(4000, np.random.default_rng(1))
    covered = {"nll": 0, "accuracy": 0}
    for simulation in range(150):
        rng = np.random.default_rng([simulation, test_size, seeds])
        x, y = made(5 * test_size, rng)
        found = {"nll": [], "accuracy": []}
        truth, units = [], []
        for _ in range(seeds):
            order = rng.permutation(len(y))
            test, train = order[:test_size], order[test_size:]
            model = LogisticRegression().fit(x[train], y[train])
            for name, values in zip(found, scores(model, x[test], y[test]), strict=True):
                found[name].append(values)
            truth.append([values.mean() for values in scores(model, *hidden)])
            units.append(test)
        for (name, values), true in zip(found.items(), np.mean(truth, axis=0), strict=True):
            highest = 1 if name == "accuracy" else math.inf
            limits = crossed_estimate(values, units, overlap=0.25).interval(
                lowest=0, highest=highest
            )
            covered[name] += limits.low <= true <= limits.high
    assert all(0.9 <= count / 150 <= 0.99 for count in covered.values()), covered


@pytest.mark.parametrize("seeds", [3, 5])
def test_equal_contestants_are_seldom_told_apart(seeds):
    """Twelve equal contestants on new splits of 180 rows: some pair is separated in at most 5 %.

    Up to 8 % may be found in 200 simulations. Losses of a contestant share the example, the
    contestant's view of it, and the training of its seed.
    """
    rng = np.random.default_rng(seeds)
    pairs = [(a, b) for a in range(12) for b in range(a)]
    separated = 0
    for _ in range(200):
        example, view = rng.normal(size=180), 0.7 * rng.normal(size=(12, 180))
        training = 0.3 * rng.normal(size=(12, seeds))
        units = [rng.permutation(180)[:36] for _ in range(seeds)]
        losses = [
            [
                example[own] + view[one][own] + training[one, seed] + 0.3 * rng.normal(size=36)
                for seed, own in enumerate(units)
            ]
            for one in range(12)
        ]
        pooled = pooled_variance(losses)
        separated += any(
            not crossed_estimate(
                [x - y for x, y in zip(losses[a], losses[b], strict=True)],
                units,
                overlap=0.25,
                pooled=pooled,
            )
            .interval(comparisons=len(pairs))
            .has_zero()
            for a, b in pairs
        )
    assert separated <= 16


def test_the_pooled_variance_is_the_mean_over_all_pairs():
    rng = np.random.default_rng(0)
    losses = [[rng.normal(seed, 1 + one, size=20) for seed in range(4)] for one in range(5)]
    by_pair = []
    for a in range(5):
        for b in range(a):
            gaps = [x - y for x, y in zip(losses[a], losses[b], strict=True)]
            means = np.array([gap.mean() for gap in gaps])
            cells = sum((((gap - means.mean()) / 80) ** 2).sum() for gap in gaps)
            by_pair.append(means.var(ddof=1) / 4 - cells)
    pooled = pooled_variance(losses)
    assert pooled.variance == pytest.approx(np.mean(by_pair))
    assert pooled.freedom == 12
    assert pooled_variance(losses[:1]) is None
