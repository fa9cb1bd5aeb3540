"""The primary comparisons: paired by seed, averaged over settings, decided by Holm's method."""

import math

import pytest
from made_up import evidence_of, made_up
from scipy.stats import ttest_1samp

from oddkout.paper.comparisons import PRIMARY, holm, primary_results


def whole(lead):
    """Runs of all comparisons; ``oko`` is ahead of every other method by a lead for each seed."""
    wanted = {
        (setting, name, seed)
        for one in PRIMARY
        for setting in one.settings
        for name in (one.first, one.second)
        for seed in one.seeds
    }
    return [
        made_up(
            setting, name, seed=seed, accuracy=0.8 + lead[seed] * (name == "oko"),
            nll=0.5, 
        )
        for setting, name, seed in sorted(wanted)
    ]  # fmt: skip


LEAD = {40: 0.010, 41: 0.012, 42: 0.011, 43: 0.013, 44: 0.009}


def test_there_are_seven_comparisons_of_two_data_sets_each():
    assert len(PRIMARY) == 7
    assert [len(one.settings) for one in PRIMARY] == [12] * 6 + [6]
    assert [len(one.seeds) for one in PRIMARY] == [5] * 6 + [3]


def test_estimates_intervals_and_decisions():
    results = primary_results(evidence_of(whole(LEAD)))
    first = results[0]
    assert first.values == pytest.approx(LEAD)
    gaps = list(LEAD.values())
    expected = ttest_1samp(gaps, 0)
    low, high = expected.confidence_interval(0.95)
    assert (first.interval.mean, first.interval.low, first.interval.high) == pytest.approx(
        (0.011, low, high)
    )
    raw = [ttest_1samp(gaps[: len(one.seeds)], 0).pvalue if one.metric == "accuracy" else 1.0
           for one in PRIMARY]  # fmt: skip
    assert [result.p_value for result in results] == pytest.approx(holm(raw))
    assert first.estimate == f"+1.10 [{100 * low:+.2f}, {100 * high:+.2f}]"
    assert first.decision == "OKO: more accurate"
    assert [result.winner for result in results] == ["oko", "", "oko", "oko", "", "", "oko"]
    assert first.sentence.startswith("Uniform, 10 to 100 per class: OKO is more accurate than BB")
    assert results[1].sentence.endswith("times that of BB + LS, not significant (p = 1).")


def test_a_lower_nll_is_better_and_a_ratio_is_shown():
    runs = whole(LEAD)
    for run in runs:
        if run.config.method == "oko":
            run.as_trained["nll"]["value"] = 0.6 * math.exp(0.1 * LEAD[run.config.seed])
    result = primary_results(evidence_of(runs))[1]
    assert result.interval.mean == pytest.approx(0.0011)
    behind = [run for run in runs if run.config.method == "oko"]
    for run in behind:
        run.as_trained["nll"]["value"] *= 1.5
    result = primary_results(evidence_of(runs))[1]
    assert result.winner == "bb+ls"
    assert result.decision == "BB + LS: lower NLL"
    assert result.estimate.startswith("1.502 [1.50")


def test_nothing_is_decided_before_all_is_performed():
    runs = whole(LEAD)
    results = primary_results(evidence_of(runs[:-1]))
    assert {result.estimate for result in results} == {"not yet performed"}
    assert {result.decision for result in results} == {""}
    assert primary_results(evidence_of([]))[0].values == {}


def test_holm_agrees_with_a_slow_computation():
    p_values = [0.04, 0.001, 0.02, 0.5, 0.02]
    ordered = sorted(p_values)
    expected = {
        p: max(min(1, (5 - rank) * ordered[rank]) for rank in range(ordered.index(p) + 1))
        for p in p_values if p_values.count(p) == 1
    }  # fmt: skip
    found = dict(zip(p_values, holm(p_values), strict=True))
    assert all(found[p] == pytest.approx(value) for p, value in expected.items())
