"""Which runs count as evidence, and how they are averaged and paired."""

from dataclasses import replace

import pytest
from made_up import TEN_SHOT, evidence_of, made_up, with_seeds

from oddkout.paper.evidence import Evidence, measure
from oddkout.paper.presets import PRESETS
from oddkout.paper.settings import Setting

LARGE = Setting("mnist", "uniform", 500)


def test_runs_of_another_recipe_or_seed_are_no_evidence():
    run = made_up(TEN_SHOT, "oko", seed=40)
    chosen = replace(
        run, config=replace(run.config, seed=41, dropout=0.5, learning_rate=0.1, head_weight=0.6)
    )
    others = [
        replace(run, config=replace(run.config, **changes))
        for changes in ({"weight_decay": 0.5}, {"folds": 5}, {"data": "patients.csv"}, {"seed": 0})
    ]
    evidence = Evidence([*others, run, chosen], PRESETS["paper"])
    assert evidence.others == 4
    assert evidence.runs(TEN_SHOT, "oko") == [run, chosen]
    assert made_up(LARGE, "oko", seed=42).config.seed in range(40, 43)
    late = made_up(LARGE, "oko", seed=43)
    assert Evidence([late], PRESETS["paper"]).others == 1, "three seeds from 500 per class on"


def test_runs_of_two_protocols_are_not_mixed():
    first, second = (made_up(TEN_SHOT, "oko", seed=seed) for seed in (40, 41))
    Evidence([replace(one, protocol="a1") for one in (first, second)])
    with pytest.raises(ValueError, match=r"must follow one protocol, got a1 \(1 runs\), none"):
        Evidence([replace(first, protocol="a1"), second])


def test_differences_are_paired_by_seed_and_averaged_over_sizes():
    large = Setting("mnist", "uniform", 100)
    evidence = evidence_of(
        with_seeds(TEN_SHOT, "oko", [0.7, 0.8, 0.9]),
        with_seeds(TEN_SHOT, "bb", [0.6, 0.7, 0.8]),
        with_seeds(large, "oko", [0.9, 0.9, 0.9]),
        with_seeds(large, "bb", [0.8, 0.8, 0.8, 0.1]),  # a seed that OKO does not have
    )
    difference = evidence.difference([TEN_SHOT, large], "oko", "bb", measure("accuracy"))
    assert (difference.mean, difference.low, difference.high) == pytest.approx((0.1, 0.1, 0.1))


def test_a_mean_over_sizes_uses_all_seeds_of_each_and_its_interval_the_common_ones():
    evidence = evidence_of(
        with_seeds(TEN_SHOT, "oko", [0.7, 0.8, 0.9, 0.2]), with_seeds(LARGE, "oko", [0.9] * 3)
    )
    mean = evidence.mean([TEN_SHOT, LARGE], "oko", measure("accuracy"))
    assert mean.mean == pytest.approx((0.65 + 0.9) / 2)
    half = 0.05 / 3**0.5 * 4.302653  # seeds 0 to 2 have 0.8, 0.85 and 0.9
    assert (mean.low, mean.high) == pytest.approx((0.775 - half, 0.775 + half), abs=1e-6)


def test_a_run_without_folds_has_no_tempered_number():
    evidence = evidence_of([made_up(LARGE, "oko"), made_up(TEN_SHOT, "oko", folds=5)])
    tempered = measure("nll", is_tempered=True)
    assert evidence.mean([LARGE], "oko", tempered) is None
    assert evidence.mean([TEN_SHOT], "oko", tempered) is not None
