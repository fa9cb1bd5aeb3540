"""Net benefit, against its definition."""

import numpy as np
import pytest

from oddkout.decisions import cheapest_answers, decision_curve


def test_net_benefit_follows_its_definition():
    rng = np.random.default_rng(0)
    second = rng.random(300)
    labels = (rng.random(300) < second).astype(int)
    probs = np.stack([1 - second, second], axis=1)
    curve = decision_curve(probs, labels, thresholds=[0.1, 0.35, 0.8])
    for t, benefit, everyone in zip((0.1, 0.35, 0.8), curve.benefit, curve.all, strict=True):
        right = ((second >= t) & (labels == 1)).sum()
        vain = ((second >= t) & (labels == 0)).sum()
        assert benefit == pytest.approx((right - vain * t / (1 - t)) / 300)
        share = labels.mean()
        assert everyone == pytest.approx(share - (1 - share) * t / (1 - t))
    assert (curve.low < curve.benefit).all()
    assert (curve.benefit < curve.high).all()
    assert (curve.benefit > curve.all).all(), "calibrated probabilities are worth something"


def test_a_threshold_is_a_ratio_of_costs():
    """Act from t on: the same cases as the cheapest answers with costs t and 1 - t."""
    probs = np.random.default_rng(0).dirichlet([1, 1], size=200)
    acted = cheapest_answers(probs, [[0, 0.3], [0.7, 0]])
    assert (acted == (probs[:, 1] > 0.3)).all()


def test_for_a_prior_the_curve_is_that_of_cases_with_these_frequencies():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [900, 100])
    odds = np.exp(rng.normal(size=1000) + 2 * labels - 1) / 9
    probs = np.stack([1 / (1 + odds), odds / (1 + odds)], axis=1)
    curve = decision_curve(
        probs, labels, thresholds=[0.4], prior=[0.5, 0.5], train_prior=[0.9, 0.1]
    )
    is_acted = odds * 9 >= 0.4 / 0.6
    right, vain = is_acted[labels == 1].mean(), is_acted[labels == 0].mean()
    assert curve.benefit[0] == pytest.approx(0.5 * right - 0.5 * vain * 0.4 / 0.6)


def test_three_classes_are_refused():
    with pytest.raises(ValueError, match="a decision curve needs 2 classes, got 3; add up"):
        decision_curve(np.ones((2, 3)) / 3, [0, 1])
    with pytest.raises(ValueError, match="thresholds must lie between 0 and 1"):
        decision_curve(np.ones((2, 2)) / 2, [0, 1], thresholds=[1.0])
