"""Checks of claims, on runs with chosen metrics."""

from dataclasses import replace
from statistics import fmean

import pytest
from made_up import TEN_SHOT, evidence_of, made_up, outcome_of, with_seeds

from oddkout.paper.settings import Setting


@pytest.mark.parametrize(
    ("oko", "other", "verdict"),
    [
        ([0.90, 0.91, 0.92], [0.80, 0.81, 0.82], "holds"),
        ([0.80, 0.81, 0.82], [0.90, 0.91, 0.92], "does not hold"),
        ([0.80, 0.90, 0.85], [0.85, 0.80, 0.90], "undecided"),
        ([0.90], [0.80], "undecided"),  # one seed
        ([0.90, 0.91], [], "no data"),
    ],
)
def test_a_claim_on_accuracy_is_judged_by_its_paired_interval(oko, other, verdict):
    evidence = evidence_of(with_seeds(TEN_SHOT, "oko", oko), with_seeds(TEN_SHOT, "bb", other))
    outcome = outcome_of("accuracy/mnist/uniform/bb", evidence)
    assert outcome.verdict == verdict
    if verdict != "no data":
        assert outcome.value == pytest.approx(fmean(oko) - fmean(other))
        assert f"{100 * fmean(oko):.1f} against {100 * fmean(other):.1f} %" in outcome.numbers


def test_lower_is_better_for_calibration_errors():
    low, high = [0.01, 0.02, 0.015], [0.11, 0.12, 0.115]
    evidence = evidence_of(
        with_seeds(TEN_SHOT, "oko", low, metric="ece"),
        with_seeds(TEN_SHOT, "focal", high, metric="ece"),
    )
    assert outcome_of("ece/mnist/uniform/focal", evidence).verdict == "holds"
    swapped = evidence_of(
        with_seeds(TEN_SHOT, "oko", high, metric="ece"),
        with_seeds(TEN_SHOT, "focal", low, metric="ece"),
    )
    assert outcome_of("ece/mnist/uniform/focal", swapped).verdict == "does not hold"


def test_hardly_means_within_a_point_on_either_side():
    def evidence_with(gap):
        values = [0.85, 0.86, 0.87]
        return evidence_of(
            with_seeds(TEN_SHOT, "oko-k1", values),
            with_seeds(TEN_SHOT, "oko-k2", [value + gap for value in values]),
        )

    name = "k/mnist/uniform/accuracy/k2"
    assert outcome_of(name, evidence_with(0.004)).verdict == "holds"
    assert outcome_of(name, evidence_with(-0.004)).verdict == "holds"
    assert outcome_of(name, evidence_with(-0.03)).verdict == "does not hold"
    assert outcome_of(name, evidence_with(0.03)).verdict == "does not hold"


def test_the_ten_shot_claims_read_mean_and_best_seed():
    evidence = evidence_of(with_seeds(TEN_SHOT, "oko", [0.88, 0.885, 0.89]))
    assert outcome_of("accuracy/10-shot/before", evidence).verdict == "holds"
    assert outcome_of("accuracy/10-shot/mean", evidence).verdict == "undecided"
    assert outcome_of("accuracy/10-shot/best", evidence).verdict == "does not hold"


def test_a_rank_counts_baselines_that_are_significantly_lower():
    tail = Setting("mnist", "heavy-tailed", 20)
    baselines = ("vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls")

    def evidence_with(ahead):
        groups = [with_seeds(tail, "oko", [0.30, 0.31, 0.32], metric="entropy_gap")]
        for rank, name in enumerate(baselines):
            values = [0.10, 0.11, 0.12] if rank < ahead else [0.50, 0.51, 0.52]
            groups.append(with_seeds(tail, name, values, metric="entropy_gap"))
        return evidence_of(*groups)

    verdicts = [
        outcome_of("entropy-gap/mnist/heavy-tailed/rank", evidence_with(ahead)).verdict
        for ahead in (0, 2, 3)
    ]
    assert verdicts == ["holds", "holds", "does not hold"]


def test_the_tail_claim_compares_mean_leads():
    tail = Setting("mnist", "heavy-tailed", 20)
    baselines = ("vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls")
    groups = []
    for setting, lead in ((TEN_SHOT, 0.02), (tail, 0.10)):
        groups.append(with_seeds(setting, "oko", [0.8, 0.81, 0.82]))
        groups += [
            with_seeds(setting, name, [value - lead for value in (0.8, 0.81, 0.82)])
            for name in baselines
        ]
    outcome = outcome_of("accuracy/mnist/tail", evidence_of(*groups))
    assert outcome.verdict == "holds"
    assert outcome.value == pytest.approx(0.08)


def test_only_runs_with_cpu_seconds_enter_the_comparison_of_costs():
    def timed(variant, seed, cpu, folds=3):
        run = made_up(TEN_SHOT, variant, seed=seed)
        run.seconds |= {"cpu": cpu} if cpu else {}
        return replace(run, config=replace(run.config, folds=folds))

    runs = [timed("vanilla", seed, cpu) for seed, cpu in enumerate((10.0, 10.2, 9.9))]
    runs += [timed("oko", seed, 1.05 * run.seconds["cpu"]) for seed, run in enumerate(runs)]
    unknown = [timed("vanilla", 3, 10.0), timed("oko", 3, None)]
    uneven = [timed("vanilla", 4, 10.0), timed("oko", 4, 5.0, folds=0)]
    outcome = outcome_of("cost/overhead", evidence_of(runs, unknown, uneven))
    assert outcome.verdict == "holds"
    assert outcome.numbers.endswith("in 3 pairs of runs")
    assert outcome.value == pytest.approx(1.05)
    single = outcome_of("cost/overhead", evidence_of(runs[::3]))
    assert (single.verdict, single.numbers) == ("undecided", "ratio 1.05 in 1 pairs of runs")
