"""The paper's numbers, and what becomes of its claims: evidence from runs."""

import math
from collections import Counter
from dataclasses import replace
from statistics import fmean

import pytest
from made_up import TEN_SHOT, evidence_of, made_up, outcome_of, with_seeds

from oddkout.comparing.comparison import Interval
from oddkout.paper.claims import CLAIMS, judged, verdict_on
from oddkout.paper.evidence import Evidence, measure
from oddkout.paper.presets import PRESETS
from oddkout.paper.published import (
    ACCURACY,
    COLUMNS,
    ENTROPY_GAP,
    ODD_CLASSES,
    TABLES,
    TARGETS,
)
from oddkout.paper.settings import Setting

# The paper's numbers


def test_the_published_tables_agree_with_the_text_and_with_each_other():
    assert len(COLUMNS) == 8
    assert all(len(values) == 8 for table in TABLES for values in table.rows.values())
    # "OKO achieves the strongest average generalization performance across all": bold in Table 1.
    for column in COLUMNS:
        best = max(ACCURACY.rows, key=lambda name: ACCURACY.value(name, *column))
        assert best == "oko"
    # OKO is the same row in all tables of the gap, and so are k = 2 and 3.
    assert ENTROPY_GAP.rows["oko"] == ODD_CLASSES.rows["oko"] == TARGETS.rows["oko"]
    assert ODD_CLASSES.rows["oko-k3"] == TARGETS.rows["oko-k3"]
    # What is printed bold in Table 2 is the lowest but for CIFAR-100, uniform.
    bold = ["focal", "oko", "oko", "bb+ls", "oko", "focal", "oko", "weighted"]
    lowest = [
        min(ENTROPY_GAP.rows, key=lambda name: ENTROPY_GAP.value(name, *column))
        for column in COLUMNS
    ]
    assert [a == b for a, b in zip(bold, lowest, strict=True)] == [True] * 6 + [False, True]
    # Bold in the ablations.
    bold = ["oko", "oko", "oko", "oko-k3", "oko", "oko-k3", "oko", "oko-k3"]
    lowest = [
        min(ODD_CLASSES.rows, key=lambda name: ODD_CLASSES.value(name, *column))
        for column in COLUMNS
    ]
    assert lowest == bold


@pytest.mark.parametrize(
    ("table", "sums"),
    [
        # Sums over the rows of each column, added up from the paper's source.
        (ACCURACY, (6.4509, 5.6009, 5.6552, 4.9232, 3.8949, 2.5941, 2.2806, 0.5824)),
        (ENTROPY_GAP, (1.664, 3.139, 2.085, 3.983, 1.768, 6.072, 3.744, 13.863)),
        (ODD_CLASSES, (0.673, 0.715, 0.699, 1.244, 1.501, 2.215, 3.611, 6.712)),
        (TARGETS, (3.092, 2.540, 2.725, 2.534, 1.956, 1.604, 3.044, 3.443)),
    ],
)
def test_the_columns_of_the_published_tables_add_up(table, sums):
    for place, expected in enumerate(sums):
        total = math.fsum(values[place] for values in table.rows.values())
        assert total == pytest.approx(expected, abs=1e-9), COLUMNS[place]


# Evidence


def test_the_rate_with_the_lowest_out_of_fold_nll_counts_and_no_other():
    slow = [made_up(TEN_SHOT, "oko", rate=0.1, nll=0.5, accuracy=0.9, seed=s) for s in (0, 1)]
    fast = [made_up(TEN_SHOT, "oko", rate=0.2, nll=0.7, accuracy=0.95, seed=0)]
    for runs in (slow + fast, fast + slow):
        found = Evidence(runs, PRESETS["paper"])
        assert found.by_seed([TEN_SHOT], "oko", measure("accuracy")) == {0: 0.9, 1: 0.9}


def test_of_the_same_run_the_one_with_folds_counts():
    with_folds = made_up(TEN_SHOT, "oko")
    without = replace(with_folds, config=replace(with_folds.config, folds=0), out_of_fold={})
    for runs in ([with_folds, without], [without, with_folds]):
        assert Evidence(runs, PRESETS["paper"]).runs(TEN_SHOT, "oko") == [with_folds]


def test_runs_of_another_recipe_are_no_evidence():
    run = made_up(TEN_SHOT, "oko")
    other = replace(run, config=replace(run.config, dropout=0.0))
    own_data = replace(run, config=replace(run.config, data="patients.csv"))
    found = Evidence([run, other, own_data], PRESETS["paper"])
    assert found.others == 2
    assert found.runs(TEN_SHOT, "oko") == [run]


def test_leads_are_paired_by_seed_and_averaged_over_sizes():
    large = Setting("mnist", "uniform", 100)
    found = evidence_of(
        with_seeds(TEN_SHOT, "oko", [0.7, 0.8, 0.9]),
        with_seeds(TEN_SHOT, "bb", [0.6, 0.7, 0.8]),
        with_seeds(large, "oko", [0.9, 0.9, 0.9]),
        with_seeds(large, "bb", [0.8, 0.8, 0.8]),
        with_seeds(large, "bb", [0.8, 0.8, 0.8, 0.1]),  # a seed that OKO does not have
    )
    lead = found.difference([TEN_SHOT, large], "oko", "bb", measure("accuracy"))
    assert (lead.mean, lead.low, lead.high) == pytest.approx((0.1, 0.1, 0.1))


def test_a_run_without_folds_has_no_tempered_number():
    large = Setting("mnist", "uniform", 100)
    found = evidence_of([made_up(large, "oko"), made_up(TEN_SHOT, "oko")])
    tempered = measure("nll", is_tempered=True)
    assert found.mean([large], "oko", tempered) is None
    assert found.mean([TEN_SHOT], "oko", tempered) is not None
    fewer = made_up(TEN_SHOT, "oko")
    fewer = replace(fewer, config=replace(fewer.config, folds=3))
    found = evidence_of([fewer])
    assert found.mean([TEN_SHOT], "oko", tempered) is None, "another estimate of the temperature"
    assert found.mean([TEN_SHOT], "oko", measure("nll")) is not None


# Claims


def test_claims_have_names_of_their_own_and_cover_what_the_paper_says():
    names = [claim.name for claim in CLAIMS]
    assert len(names) == len(set(names))
    kinds = Counter(name.split("/")[0] for name in names)
    assert set(kinds) == {
        "accuracy", "ece", "entropy-gap", "entropies", "k0", "k", "soft", "balancing", "cost",
    }  # fmt: skip
    assert sum(name.startswith("accuracy/") and name.count("/") == 3 for name in names) == 8 * 6


def test_costs_are_compared_by_cpu_seconds_of_runs_that_know_them():
    def timed(variant, seed, cpu, folds=3):
        run = made_up(TEN_SHOT, variant, seed=seed)
        run.seconds |= {"cpu": cpu} if cpu else {}
        return replace(run, config=replace(run.config, folds=folds))

    runs = [timed("vanilla", seed, cpu) for seed, cpu in enumerate((10.0, 10.2, 9.9))]
    runs += [timed("oko", seed, 1.05 * run.seconds["cpu"]) for seed, run in enumerate(runs)]
    unknown = [timed("vanilla", 3, 10.0), timed("oko", 3, None)]
    uneven = [timed("vanilla", 4, 10.0), timed("oko", 4, 5.0, folds=0)]
    found = outcome_of("cost/overhead", evidence_of(runs, unknown, uneven))
    assert found.verdict == "holds"
    assert found.numbers.endswith("in 3 pairs of runs")
    assert found.value == pytest.approx(1.05)
    single = outcome_of("cost/overhead", evidence_of(runs[::3]))
    assert (single.verdict, single.numbers) == ("undecided", "ratio 1.05 in 1 pairs of runs")


def test_without_runs_no_claim_has_a_verdict():
    assert {item.outcome.verdict for item in judged(Evidence([], PRESETS["paper"]))} == {"no data"}


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
    found = evidence_of(with_seeds(TEN_SHOT, "oko", oko), with_seeds(TEN_SHOT, "bb", other))
    outcome = outcome_of("accuracy/mnist/uniform/bb", found)
    assert outcome.verdict == verdict
    if verdict != "no data":
        assert outcome.value == pytest.approx(fmean(oko) - fmean(other))
        assert f"{100 * fmean(oko):.1f} against {100 * fmean(other):.1f} %" in outcome.numbers


def test_lower_is_better_for_calibration_errors():
    low, high = [0.01, 0.02, 0.015], [0.11, 0.12, 0.115]
    found = evidence_of(
        with_seeds(TEN_SHOT, "oko", low, metric="ece"),
        with_seeds(TEN_SHOT, "focal", high, metric="ece"),
    )
    assert outcome_of("ece/mnist/uniform/focal", found).verdict == "holds"
    swapped = evidence_of(
        with_seeds(TEN_SHOT, "oko", high, metric="ece"),
        with_seeds(TEN_SHOT, "focal", low, metric="ece"),
    )
    assert outcome_of("ece/mnist/uniform/focal", swapped).verdict == "does not hold"


def test_hardly_means_within_a_point_on_either_side():
    def found(gap):
        values = [0.85, 0.86, 0.87]
        return evidence_of(
            with_seeds(TEN_SHOT, "oko-k1", values),
            with_seeds(TEN_SHOT, "oko-k2", [value + gap for value in values]),
        )

    name = "k/mnist/uniform/accuracy/k2"
    assert outcome_of(name, found(0.004)).verdict == "holds"
    assert outcome_of(name, found(-0.004)).verdict == "holds"
    assert outcome_of(name, found(-0.03)).verdict == "does not hold"
    assert outcome_of(name, found(0.03)).verdict == "does not hold"


def test_the_ten_shot_claims_read_mean_and_best_seed():
    found = evidence_of(with_seeds(TEN_SHOT, "oko", [0.88, 0.885, 0.89]))
    assert outcome_of("accuracy/10-shot/before", found).verdict == "holds"
    assert outcome_of("accuracy/10-shot/mean", found).verdict == "undecided"
    assert outcome_of("accuracy/10-shot/best", found).verdict == "does not hold"


def test_a_rank_counts_those_that_are_surely_ahead():
    tail = Setting("mnist", "heavy-tailed", 20)
    baselines = ("vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls")

    def found(ahead):
        groups = [with_seeds(tail, "oko", [0.30, 0.31, 0.32], metric="entropy_gap")]
        for place, name in enumerate(baselines):
            values = [0.10, 0.11, 0.12] if place < ahead else [0.50, 0.51, 0.52]
            groups.append(with_seeds(tail, name, values, metric="entropy_gap"))
        return evidence_of(*groups)

    verdicts = [
        outcome_of("entropy-gap/mnist/heavy-tailed/rank", found(ahead)).verdict
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


def test_the_paper_contradicts_itself_where_its_tables_do():
    contradicted = {claim.name: claim.published for claim in CLAIMS if claim.contradicted}
    assert contradicted["balancing/fashion_mnist"] == pytest.approx(0.7124 - 0.7145)
    assert contradicted["entropy-gap/mnist/uniform/focal"] == pytest.approx(0.073 - 0.044)
    assert not any(name.startswith("accuracy/") for name in contradicted)


def test_an_interval_decides_only_if_it_lies_on_one_side():
    nan = float("nan")
    assert verdict_on(Interval(1.0, 0.5, 1.5), above=0, below=2) == "holds"
    assert verdict_on(Interval(1.9, 1.5, 2.3), above=0, below=2) == "undecided"
    assert verdict_on(Interval(2.5, 2.1, 2.9), above=0, below=2) == "does not hold"
    assert verdict_on(Interval(1.0, nan, nan), above=0) == "undecided"
