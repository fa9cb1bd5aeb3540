"""Limits of error rates, against scipy's tests and by enumeration."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from oddkout.decisions import risk_band
from oddkout.decisions.risk_limits import Ranked, needed_answers, upper_limit
from oddkout.metrics import risk_coverage


@pytest.mark.parametrize(("errors", "answers"), [(0, 10), (3, 50), (12, 80), (9, 10)])
def test_the_limit_is_where_so_few_errors_have_5_percent(errors, answers):
    limit = upper_limit(errors, answers, confidence=0.95)
    assert binom.cdf(errors, answers, limit) == pytest.approx(0.05)
    theirs = binomtest(errors, answers, alternative="less").proportion_ci(0.95, method="exact")
    assert limit == pytest.approx(theirs.high)


def test_if_all_answers_are_wrong_the_limit_is_1():
    assert upper_limit(5, 5, confidence=0.95) == 1
    assert upper_limit(0, 0, confidence=0.95) == 1


def test_tests_start_at_a_quarter_of_the_answers():
    """Two errors among the first 29 of 400 answers would fail at once; four of 100 pass."""
    is_wrong = np.zeros(400)
    is_wrong[[5, 20, 30, 50]] = 1
    ranked = Ranked.of(np.linspace(1, 0.5, 400), is_wrong)
    assert binom.cdf(2, 29, 0.1) > 0.05 > binom.cdf(4, 100, 0.1)
    assert ranked.safe_answers(risk=0.1, confidence=0.95) == 400


@pytest.mark.parametrize("errors", [0, 1, 4])
@pytest.mark.parametrize("risk", [0.01, 0.05, 0.2])
def test_the_needed_number_of_answers_is_the_least_that_passes(errors, risk):
    needed = needed_answers(risk, 0.95, errors=errors)
    assert binom.cdf(errors, needed, risk) <= 0.05 < binom.cdf(errors, needed - 1, risk)


def test_equal_confidences_are_never_separated():
    ranked = Ranked.of(np.array([0.9, 0.7, 0.9, 0.7, 0.5]), np.array([0.0, 1, 0, 0, 1]))
    assert ranked.cuts.tolist() == [2, 4, 5]
    assert ranked.errors.tolist() == [0, 0, 1, 1, 2]
    assert [ranked.threshold(n) for n in (0, 2, 4, 5)] == [1.0, 0.7, 0.5, 0.0]


def test_tests_end_at_the_first_failure():
    """200 right answers, then as many wrong ones: the rate passes 5 % before long."""
    confidence = np.linspace(1, 0.5, 400)
    ranked = Ranked.of(confidence, (np.arange(400) >= 200).astype(float))
    safe = ranked.safe_answers(risk=0.05, confidence=0.95)
    assert 180 <= safe < 210
    assert binom.cdf(ranked.errors[safe - 1], safe, 0.05) <= 0.05
    wrong_first = Ranked.of(confidence, (np.arange(400) < 10).astype(float))
    assert binom.cdf(10, 400, 0.05) < 0.05, "all 400 would pass, but the first 100 do not"
    assert wrong_first.safe_answers(risk=0.05, confidence=0.95) == 0
    assert Ranked.of(np.zeros(0), np.zeros(0)).safe_answers(risk=0.05, confidence=0.95) == 0


def test_the_curve_is_that_of_the_metrics_and_its_band_holds_the_truth():
    rng = np.random.default_rng(0)
    outside = 0
    for _ in range(200):
        confidence = rng.uniform(0.5, 1, 300)
        labels = (rng.random(300) > confidence).astype(int)  # right with that probability
        probs = np.stack([confidence, 1 - confidence], axis=1)
        band = risk_band(probs=probs, labels=labels)
        # Above c = 1 - coverage / 2 the error rate is 1 - (1 + c) / 2.
        ordered = np.sort(confidence)[::-1]
        answers = np.round(band.coverage * 300).astype(int)
        edge = np.append(ordered, 0.5)[answers]
        truth = 1 - (1 + edge) / 2
        outside += ((truth < band.low) | (truth > band.high)).any()
    assert outside <= 0.05 * 200 + 3 * (0.05 * 0.95 * 200) ** 0.5
    curve = risk_coverage(probs, labels)
    every = np.searchsorted(curve.coverage.numpy(), band.coverage - 1e-9)
    np.testing.assert_allclose(curve.risk.numpy()[every], band.risk)
