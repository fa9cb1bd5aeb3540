"""Which runs count as evidence, and how they are averaged and paired."""

from dataclasses import replace

import pytest
from made_up import TEN_SHOT, evidence_of, made_up, with_seeds

from oddkout.paper.evidence import Evidence, measure
from oddkout.paper.presets import PRESETS
from oddkout.paper.settings import Setting


def test_only_runs_at_the_rate_with_the_lowest_out_of_fold_nll_count():
    slow = [made_up(TEN_SHOT, "oko", rate=0.1, nll=0.5, accuracy=0.9, seed=s) for s in (0, 1)]
    fast = [made_up(TEN_SHOT, "oko", rate=0.2, nll=0.7, accuracy=0.95, seed=0)]
    for runs in (slow + fast, fast + slow):
        evidence = Evidence(runs, PRESETS["paper"])
        assert evidence.by_seed([TEN_SHOT], "oko", measure("accuracy")) == {0: 0.9, 1: 0.9}


def test_a_run_with_folds_is_preferred_to_the_same_run_without():
    with_folds = made_up(TEN_SHOT, "oko")
    without = replace(with_folds, config=replace(with_folds.config, folds=0), fold_metrics={})
    for runs in ([with_folds, without], [without, with_folds]):
        assert Evidence(runs, PRESETS["paper"]).runs(TEN_SHOT, "oko") == [with_folds]


def test_runs_of_another_recipe_are_no_evidence():
    run = made_up(TEN_SHOT, "oko")
    other = replace(run, config=replace(run.config, dropout=0.0))
    own_data = replace(run, config=replace(run.config, data="patients.csv"))
    evidence = Evidence([run, other, own_data], PRESETS["paper"])
    assert evidence.others == 2
    assert evidence.runs(TEN_SHOT, "oko") == [run]


def test_differences_are_paired_by_seed_and_averaged_over_sizes():
    large = Setting("mnist", "uniform", 100)
    evidence = evidence_of(
        with_seeds(TEN_SHOT, "oko", [0.7, 0.8, 0.9]),
        with_seeds(TEN_SHOT, "bb", [0.6, 0.7, 0.8]),
        with_seeds(large, "oko", [0.9, 0.9, 0.9]),
        with_seeds(large, "bb", [0.8, 0.8, 0.8]),
        with_seeds(large, "bb", [0.8, 0.8, 0.8, 0.1]),  # a seed that OKO does not have
    )
    difference = evidence.difference([TEN_SHOT, large], "oko", "bb", measure("accuracy"))
    assert (difference.mean, difference.low, difference.high) == pytest.approx((0.1, 0.1, 0.1))


def test_a_run_without_folds_has_no_tempered_number():
    large = Setting("mnist", "uniform", 100)
    evidence = evidence_of([made_up(large, "oko"), made_up(TEN_SHOT, "oko")])
    tempered = measure("nll", is_tempered=True)
    assert evidence.mean([large], "oko", tempered) is None
    assert evidence.mean([TEN_SHOT], "oko", tempered) is not None
    fewer = made_up(TEN_SHOT, "oko")
    fewer = replace(fewer, config=replace(fewer.config, folds=3))
    evidence = evidence_of([fewer])
    assert evidence.mean([TEN_SHOT], "oko", tempered) is None, "another estimate of the temperature"
    assert evidence.mean([TEN_SHOT], "oko", measure("nll")) is not None
