"""The reproduction: grids as the paper has them, its numbers, and what becomes of its claims."""

import json
import math
from collections import Counter
from dataclasses import replace
from statistics import fmean

import pytest
import torch
from grids import killed_ten_times

from oddkout.cli import main
from oddkout.data import KNOWN
from oddkout.experiments.claims import CLAIMS, judged, verdict_on
from oddkout.experiments.comparison import Interval
from oddkout.experiments.config import RunConfig
from oddkout.experiments.cost import extrapolated_seconds, spent_seconds
from oddkout.experiments.evidence import Evidence, measure
from oddkout.experiments.grid import jobs_of
from oddkout.experiments.lines import CommittedStore, merge_lines, read_lines
from oddkout.experiments.presets import FEW_SHOT_SIZES, PRESETS, preset_named
from oddkout.experiments.published import (
    ACCURACY,
    COLUMNS,
    ENTROPY_GAP,
    ODD_CLASSES,
    TABLES,
    TARGETS,
)
from oddkout.experiments.reproduce import planned, planned_counts, reproduce
from oddkout.experiments.run import Run
from oddkout.experiments.settings import SIZES, Setting, paper_sizes
from oddkout.experiments.store import RunStore
from oddkout.experiments.variants import VARIANTS, expected_distinct, variant_of
from oddkout.methods import METHODS, Objective
from oddkout.report.document import Document, Heading, TextTable
from oddkout.report.paper_figures import PAPER_FIGURES, save_paper_figures
from oddkout.report.paper_tables import paper_table, table_cell
from oddkout.report.reproduction import reproduction_json, write_reproduction
from oddkout.report.results import QUALITY_SETTINGS, results_markdown

TEN_SHOT = Setting("mnist", "uniform", 10)
DEFAULTS = {"accuracy": 0.8, "ece": 0.05, "nll": 0.6, "entropy": 0.5, "entropy_gap": 0.1}


def made_up(setting, variant, *, seed=0, rate=0.2, nll=1.0, predictions=False, **metrics):
    """A run of the paper's grid with chosen metrics, as though it had been performed."""
    found = {name: {"value": value} for name, value in (DEFAULTS | metrics).items()}
    found["ece"]["null"] = {"mean": 0.01, "high": 0.02, "p_value": 0.5}
    config = replace(PRESETS["paper"].config(setting, variant), learning_rate=rate, seed=seed)
    run = Run(
        config=config,
        classes=KNOWN[setting.data].classes,
        temperature=1.5,
        out_of_fold={"nll": nll, "accuracy": 0.8} if config.folds else {},
        as_trained=found,
        tempered=found,
        seconds={"train": 10.0, "folds": 10.0 * config.folds, "evaluate": 2.0},
        versions={"torch": "2.13.0"},
    )
    if predictions:
        generator = torch.Generator().manual_seed(seed)
        run.logits = torch.randn(60, 10, generator=generator).numpy()
        run.labels = torch.randint(10, (60,), generator=generator).numpy()
    return run


def with_seeds(setting, variant, values, *, metric="accuracy", **others):
    return [
        made_up(setting, variant, seed=seed, **({metric: value} | others))
        for seed, value in enumerate(values)
    ]


def evidence_of(*groups):
    return Evidence([run for group in groups for run in group], PRESETS["paper"])


def finding_on(name, evidence):
    return next(item.finding for item in judged(evidence) if item.claim.name == name)


# Grids


def test_the_few_shot_preset_is_the_grid_that_was_asked_for():
    preset = PRESETS["few-shot"]
    assert preset.datasets == ("mnist", "fashion_mnist")
    assert preset.distributions == ("uniform", "heavy-tailed")
    assert preset.sizes == FEW_SHOT_SIZES == tuple(size for size in SIZES if size <= 100)
    assert set(METHODS) <= set(preset.variants)
    assert preset.seeds == 5
    settings = 2 * 2 * 6
    tuning = 2 * 2 * len(preset.variants)  # one rate more on the first seed, at one size
    assert len(planned(preset)) == settings * len(preset.variants) * 5 + tuning
    assert sum(planned_counts(preset).values()) == len(planned(preset))


def test_the_paper_preset_covers_the_protocol_of_the_paper():
    preset = PRESETS["paper"]
    sizes = {"mnist": 9, "fashion_mnist": 9, "cifar10": 6, "cifar100": 3}
    found = Counter((setting.data, setting.distribution) for setting in preset.settings)
    assert found == {(data, dist): sizes[data] for data, dist in COLUMNS}
    assert paper_sizes("mnist") == (10, 20, 30, 40, 50, 100, 500, 1000, 2000)
    models = {setting.data: preset.config(setting, "oko").model for setting in preset.settings}
    assert models["cifar10"] == "resnet18"
    assert models["cifar100"] == "resnet34"
    ks = {preset.config(TEN_SHOT, name).how.k for name in ("pair", "oko-k1", "oko-k2", "oko-k3")}
    assert ks == {0, 1, 2, 3}
    assert all(
        preset.config(TEN_SHOT, name).how.head == "none" for name in ("oko-k1", "oko-k2", "oko-k3")
    )
    assert {preset.config(TEN_SHOT, f"oko-soft-k{k}").how.targets for k in (2, 3)} == {"soft"}


def test_the_cifar_preset_has_one_setting_of_each_with_narrow_resnets():
    preset = PRESETS["cifar"]
    configs = [preset.config(setting, "oko") for setting in preset.settings]
    found = [(config.model, config.train_examples, config.updates) for config in configs]
    assert found == [("resnet18-narrow", 500, 200), ("resnet34-narrow", 5000, 100)]
    evidence = Evidence([Run(config=replace(configs[0], learning_rate=0.1))], PRESETS["paper"])
    assert evidence.others == 1, "narrow networks are no evidence on the paper's"


def test_narrow_runs_have_a_section_of_their_own(tmp_path):
    setting, preset = PRESETS["cifar"].settings[0], PRESETS["cifar"]
    runs = [
        replace(
            made_up(setting, variant, seed=seed, accuracy=accuracy),
            config=replace(preset.config(setting, variant), learning_rate=0.1, seed=seed),
            out_of_fold={},
        )
        for variant, accuracy in (("oko", 0.4), ("bb+ls", 0.35))
        for seed in range(3)
    ]
    merge_lines(tmp_path, [*runs, made_up(TEN_SHOT, "oko")])
    text = results_markdown(tmp_path)
    assert "1 runs, 0 failed; 0 runs of other recipes" in text
    section = text[text.index("## CIFAR with narrow ResNets") : text.index("## Claims")]
    assert "| OKO | 3 | 40.0 ± 0.0 |" in section
    assert "| BB + LS | +5.0 ± 0.0 * |" in section
    assert "tempered" not in section
    assert "MNIST" not in section


def test_sizes_are_per_class_and_runs_have_totals():
    config = PRESETS["paper"].config(Setting("mnist", "heavy-tailed", 20), "bb")
    assert config.train_examples == 200
    assert config.distribution == "heavy-tailed"


def test_a_few_shot_run_is_the_run_that_compare_makes():
    by_compare = RunConfig(
        data="mnist", distribution="uniform", train_examples=100, population="uniform",
        method="bb+ls", learning_rate=0.1, folds=3,
    )  # fmt: skip
    by_preset = replace(PRESETS["few-shot"].config(TEN_SHOT, "bb+ls"), learning_rate=0.1)
    assert by_preset.id == by_compare.id


def test_every_variant_is_told_by_its_config_alone():
    for setting in (TEN_SHOT, Setting("cifar100", "heavy-tailed", 40)):
        for name in VARIANTS:
            assert variant_of(PRESETS["paper"].config(setting, name)) == name
    odd = RunConfig(data="mnist", method="oko", k=4)
    assert variant_of(odd) == "oko (k=4, head=none, pool layout)"


@pytest.mark.parametrize("distribution", ["uniform", "heavy-tailed"])
def test_the_expected_number_of_distinct_examples_is_what_sets_hold(distribution):
    setting = Setting("mnist", distribution, 20)
    counts = [round(size) for size in setting.class_sizes]
    assert abs(sum(counts) - setting.examples) <= len(counts) / 2
    labels = torch.cat([torch.full((count,), row) for row, count in enumerate(counts)])
    objective = Objective(
        METHODS["oko"], labels, classes=10, examples=1, sets=64, layout="paper", seed=0
    )
    seen = [len(objective.draw(update)[0]) for update in range(300)]
    assert fmean(seen) == pytest.approx(expected_distinct(setting, k=1, sets=64), abs=1)


@pytest.mark.parametrize("setting", [TEN_SHOT, Setting("fashion_mnist", "heavy-tailed", 1000)])
def test_the_papers_recipe_forwards_as_many_examples_as_all_others(setting):
    own = PRESETS["paper"].config(setting, "oko-paper")
    other = PRESETS["paper"].config(setting, "oko")
    assert own.layout == "paper"
    assert (own.sets, own.clip_value, own.clip_norm) == (64, 1.0, None)
    assert (own.head_weight, own.head_until, own.dropout) == (1.0, 0.0, 0.0)
    forwarded = own.updates * expected_distinct(setting, k=1, sets=64)
    assert forwarded == pytest.approx(other.updates * other.examples, rel=0.02)


def test_what_a_grid_does_not_know_is_refused_by_name():
    with pytest.raises(ValueError, match=r"method must be one of .* got 'okay'"):
        preset_named("smoke", variants=["okay"])
    with pytest.raises(ValueError, match="dataset must be one of"):
        preset_named("smoke", datasets=["imagenet"])
    with pytest.raises(
        ValueError, match="preset must be one of 'smoke', 'few-shot', 'cifar', 'paper'"
    ):
        preset_named("huge")


def test_the_longest_runs_come_first_and_a_resnet_is_long():
    preset = PRESETS["paper"]
    configs = [
        preset.config(Setting(data, "uniform", size), "bb")
        for data, size in (("mnist", 30), ("mnist", 2000), ("cifar10", 40))
    ]
    order = [(job[0].data, job[0].train_examples) for job in jobs_of(configs)]
    assert order == [("cifar10", 400), ("mnist", 20_000), ("mnist", 300)]


# Performing


def stub_executor(better, performed):
    """Performs nothing: runs whose out-of-fold NLL is lowest at the rate ``better``."""

    def execute(jobs):
        for job in jobs:
            performed.extend(job)
            yield [
                Run(
                    config=config,
                    out_of_fold={"nll": abs(config.learning_rate - better)} if config.folds else {},
                )
                for config in job
            ]

    return execute


def test_rates_are_chosen_at_one_size_and_kept_at_the_others(tmp_path):
    preset = preset_named(
        "few-shot", datasets=["mnist"], distributions=["uniform"], sizes=[10, 50],
        variants=["oko", "bb"], seeds=2,
    )  # fmt: skip
    performed = []
    runs = reproduce(preset, RunStore(tmp_path), executor=stub_executor(0.2, performed))
    assert len(performed) == len(set(performed)) == len(planned(preset)) == 2 * (2 * 2 + 1)
    rates = {(run.config.train_examples, run.config.seed, run.config.learning_rate) for run in runs}
    assert rates == {(100, 0, 0.1), (100, 0, 0.2), (100, 1, 0.2), (500, 0, 0.2), (500, 1, 0.2)}
    assert {run.config.folds for run in runs if run.config.train_examples == 500} == {0}


def test_committed_lines_are_not_performed_again(tmp_path):
    preset = preset_named(
        "few-shot", datasets=["mnist"], distributions=["uniform"], sizes=[10], variants=["oko"],
        seeds=3,
    )  # fmt: skip
    first = []
    runs = reproduce(preset, RunStore(tmp_path / "a"), executor=stub_executor(0.1, first))
    merge_lines(tmp_path / "lines", runs[:2])
    second = []
    store = CommittedStore(tmp_path / "b", read_lines(tmp_path / "lines"))
    again = reproduce(preset, store, executor=stub_executor(0.1, second))
    assert len(first) == 4
    assert len(second) == 2
    assert {run.config.id for run in again} == {run.config.id for run in runs}
    assert {run.config.id for run in store.all_runs()} == {run.config.id for run in runs}


def test_a_run_with_folds_answers_for_the_same_without(tmp_path):
    run = made_up(TEN_SHOT, "oko")
    assert run.config.folds == 3
    store = CommittedStore(tmp_path, [run])
    assert replace(run.config, folds=0) in store
    assert replace(run.config, folds=2) not in store


def test_a_failed_line_is_performed_again(tmp_path):
    failed = replace(made_up(TEN_SHOT, "oko"), reason="out of memory")
    merge_lines(tmp_path, [failed])
    assert failed.config not in CommittedStore(tmp_path / "runs", read_lines(tmp_path))
    merge_lines(tmp_path, [made_up(TEN_SHOT, "oko")])
    assert [run.has_failed for run in read_lines(tmp_path)] == [False]


# Lines


def test_lines_hold_each_run_once_sorted_whatever_the_order(tmp_path):
    runs = [made_up(TEN_SHOT, name, seed=seed) for name in ("oko", "bb") for seed in range(3)]
    runs.append(made_up(Setting("fashion_mnist", "uniform", 10), "oko"))
    merge_lines(tmp_path / "a", runs)
    for run in reversed(runs):
        merge_lines(tmp_path / "b", [run, run])
    files = ["runs-fashion_mnist.jsonl", "runs-mnist.jsonl"]
    assert sorted(file.name for file in (tmp_path / "a").iterdir()) == files
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    ids = [json.loads(line)["id"] for line in (tmp_path / "a" / files[1]).read_text().splitlines()]
    assert ids == sorted(set(ids))
    assert len(ids) == 6
    assert read_lines(tmp_path / "a") == sorted(runs, key=lambda run: run.config.id)
    assert merge_lines(tmp_path / "a", runs) == []


def test_a_broken_line_is_named(tmp_path):
    merge_lines(tmp_path, [made_up(TEN_SHOT, "oko")])
    file = tmp_path / "runs-mnist.jsonl"
    file.write_text(file.read_text() + '{"format": 1}\n')
    with pytest.raises(ValueError, match=r"runs-mnist.jsonl, line 2 is no run"):
        read_lines(tmp_path)


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
    lead = found.lead([TEN_SHOT, large], "oko", "bb", measure("accuracy"))
    assert (lead.mean, lead.low, lead.high) == pytest.approx((0.1, 0.1, 0.1))


def test_a_run_without_folds_has_no_tempered_number():
    large = Setting("mnist", "uniform", 100)
    found = evidence_of([made_up(large, "oko"), made_up(TEN_SHOT, "oko")])
    tempered = measure("nll", is_tempered=True)
    assert found.mean([large], "oko", tempered) is None
    assert found.mean([TEN_SHOT], "oko", tempered) is not None


# Claims


def test_claims_have_names_of_their_own_and_cover_what_the_paper_says():
    names = [claim.name for claim in CLAIMS]
    assert len(names) == len(set(names))
    kinds = Counter(name.split("/")[0] for name in names)
    assert set(kinds) == {
        "accuracy", "ece", "entropy-gap", "entropies", "k0", "k", "soft", "balancing", "cost",
    }  # fmt: skip
    assert sum(name.startswith("accuracy/") and name.count("/") == 3 for name in names) == 8 * 6


def test_without_runs_no_claim_has_a_verdict():
    assert {item.finding.verdict for item in judged(Evidence([], PRESETS["paper"]))} == {"no data"}


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
    finding = finding_on("accuracy/mnist/uniform/bb", found)
    assert finding.verdict == verdict
    if verdict != "no data":
        assert finding.value == pytest.approx(fmean(oko) - fmean(other))
        assert f"{100 * fmean(oko):.1f} against {100 * fmean(other):.1f} %" in finding.numbers


def test_lower_is_better_for_calibration_errors():
    low, high = [0.01, 0.02, 0.015], [0.11, 0.12, 0.115]
    found = evidence_of(
        with_seeds(TEN_SHOT, "oko", low, metric="ece"),
        with_seeds(TEN_SHOT, "focal", high, metric="ece"),
    )
    assert finding_on("ece/mnist/uniform/focal", found).verdict == "holds"
    swapped = evidence_of(
        with_seeds(TEN_SHOT, "oko", high, metric="ece"),
        with_seeds(TEN_SHOT, "focal", low, metric="ece"),
    )
    assert finding_on("ece/mnist/uniform/focal", swapped).verdict == "does not hold"


def test_hardly_means_within_a_point_on_either_side():
    def found(gap):
        values = [0.85, 0.86, 0.87]
        return evidence_of(
            with_seeds(TEN_SHOT, "oko-k1", values),
            with_seeds(TEN_SHOT, "oko-k2", [value + gap for value in values]),
        )

    name = "k/mnist/uniform/accuracy/k2"
    assert finding_on(name, found(0.004)).verdict == "holds"
    assert finding_on(name, found(-0.004)).verdict == "holds"
    assert finding_on(name, found(-0.03)).verdict == "does not hold"
    assert finding_on(name, found(0.03)).verdict == "does not hold"


def test_the_ten_shot_claims_read_mean_and_best_seed():
    found = evidence_of(with_seeds(TEN_SHOT, "oko", [0.88, 0.885, 0.89]))
    assert finding_on("accuracy/10-shot/before", found).verdict == "holds"
    assert finding_on("accuracy/10-shot/mean", found).verdict == "undecided"
    assert finding_on("accuracy/10-shot/best", found).verdict == "does not hold"


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
        finding_on("entropy-gap/mnist/heavy-tailed/rank", found(ahead)).verdict
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
    finding = finding_on("accuracy/mnist/tail", evidence_of(*groups))
    assert finding.verdict == "holds"
    assert finding.value == pytest.approx(0.08)


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


# Cost


def test_what_trained_once_is_paid_once():
    together = [made_up(TEN_SHOT, name) for name in ("bb", "bb+ts", "oko")]
    assert spent_seconds(together) == pytest.approx(2 * (10 + 30 + 2))
    together[0].seconds["cpu"] = together[1].seconds["cpu"] = 35.0
    assert spent_seconds(together) == pytest.approx(35 + 42)


def test_costs_are_extrapolated_by_examples_and_runs():
    """A fold takes 10 s; training too, and 2 s come on top: a run without folds costs 12 s."""
    runs = [made_up(TEN_SHOT, "oko", seed=seed) for seed in range(3)]
    plan = [PRESETS["paper"].config(Setting("mnist", "uniform", size), "bb") for size in (20, 30)]
    plan = dict.fromkeys(plan, 1)
    assert extrapolated_seconds(runs, plan) == pytest.approx(24)
    assert extrapolated_seconds(runs, dict.fromkeys(plan, 5)) == pytest.approx(120)
    double = {replace(config, updates=2 * config.updates): 1 for config in plan}
    assert extrapolated_seconds(runs, double) == pytest.approx(44)
    for run in runs:
        run.seconds["cpu"] = 21.0  # half of the time it took
    assert extrapolated_seconds(runs, double) == pytest.approx(22)
    assert extrapolated_seconds([], plan) is None


# Tables, figures, RESULTS.md


def test_a_difference_to_the_paper_needs_all_of_its_sizes():
    whole = [
        run
        for size in paper_sizes("mnist")
        for run in with_seeds(Setting("mnist", "uniform", size), "oko", [0.9, 0.9])
    ]
    cell = table_cell(evidence_of(whole), ACCURACY, "oko", "mnist", "uniform")
    assert cell.difference == pytest.approx(0.9 - 0.9362)
    assert cell.seeds == 2
    cell = table_cell(evidence_of(whole[2:]), ACCURACY, "oko", "mnist", "uniform")
    assert cell.ours.mean == pytest.approx(0.9)
    assert cell.difference is None


def test_a_row_that_lacks_a_size_of_its_column_has_no_number():
    large = Setting("mnist", "uniform", 100)
    found = evidence_of(
        with_seeds(TEN_SHOT, "oko", [0.8]),
        with_seeds(large, "oko", [0.9]),
        with_seeds(large, "bb", [0.9]),
    )
    assert table_cell(found, ACCURACY, "oko", "mnist", "uniform").ours.mean == pytest.approx(0.85)
    assert table_cell(found, ACCURACY, "bb", "mnist", "uniform").ours is None
    assert "| BB | 1 of 2 sizes | 92.31 |" in paper_table(found, ACCURACY).markdown()


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    runs = [
        run
        for place, setting in enumerate(QUALITY_SETTINGS[:2])
        for name in ("oko", "bb", "bb+ls", "oko-paper", "pair", "oko-k1")
        for run in with_seeds(setting, name, [0.8 + place / 50 + seed / 100 for seed in range(3)])
    ]
    merge_lines(folder, runs)
    line = {"data": "wine", "model": "MLP", "fold": 0, "metrics": {"accuracy": 0.97, "nll": 0.1}}
    (folder / "tables.jsonl").write_text(json.dumps(line) + "\nnot JSON\n" + '{"other": 1}\n')
    return folder


@pytest.fixture(scope="module")
def text(committed):
    return results_markdown(committed)


def test_results_regenerate_byte_for_byte(committed, text, tmp_path):
    merge_lines(tmp_path, reversed(read_lines(committed)))
    (tmp_path / "tables.jsonl").write_bytes((committed / "tables.jsonl").read_bytes())
    assert results_markdown(tmp_path).encode() == text.encode()


def test_results_show_numbers_and_say_what_is_missing(text):
    mean, half = 81.0, 100 * 0.01 / 3**0.5 * 4.302653  # t with two degrees of freedom
    assert f"| OKO | 3 | {mean:.1f} ± {half:.1f} | 0.050 ± 0.000 (0.010)" in text
    assert "### FashionMNIST, uniform, 10 per class\n\nNo runs yet." in text
    assert "OKO, paper's recipe" in text
    assert "No runs yet: FashionMNIST, CIFAR-10, CIFAR-100." in text
    assert "| wine | MLP | 1 | 0.970 |" in text
    assert "| MNIST, uniform: OKO is more accurate than BB, averaged over sizes. |" in text
    assert "nan" not in text


def test_a_document_says_the_same_in_three_languages():
    document = Document()
    document.add(Heading("A & B"), "100 % <sure>", TextTable(header=["x_1"], rows=[["1 ± 2"]]))
    assert document.markdown() == "## A & B\n\n100 % <sure>\n\n| x_1 |\n| --- |\n| 1 ± 2 |\n"
    assert r"\subsection{A \& B}" in document.latex()
    assert r"x\_1 \\" in document.latex()
    assert r"1 $\pm$ 2 \\" in document.latex()
    assert "<h2>A &amp; B</h2>\n<p>100 % &lt;sure&gt;</p>" in document.html()


def test_the_report_of_a_reproduction_is_whole(tmp_path):
    runs = [
        made_up(setting, name, seed=seed, predictions=name in ("oko", "bb"))
        for setting in (TEN_SHOT, Setting("mnist", "heavy-tailed", 20))
        for name in ("oko", "bb", "pair")
        for seed in range(2)
    ]
    found = Evidence(runs, PRESETS["paper"])
    absent = write_reproduction(found, tmp_path)
    assert set(absent) == {"8"}  # CIFAR has no runs
    assert len(PAPER_FIGURES) == 15
    drawn = {file.stem for file in tmp_path.glob("figure-*.svg")}
    assert drawn == {f"figure-{figure.name}" for figure in PAPER_FIGURES if figure.name != "8"}
    page = (tmp_path / "results.html").read_text()
    assert page.count("<figure>") == 14
    assert "http://www.w3.org/2000/svg" in page
    assert "src=" not in page  # nothing is loaded from elsewhere
    assert (tmp_path / "results.tex").read_text().count(r"\begin{tabular}") >= 6
    assert json.loads((tmp_path / "results.json").read_text()) == reproduction_json(found)


def test_figures_that_need_predictions_say_so(tmp_path):
    found = evidence_of(with_seeds(TEN_SHOT, "oko", [0.8, 0.9]))
    _, absent = save_paper_figures(found, tmp_path)
    assert absent["3"] == "there are no runs with predictions that it shows"
    assert "2" not in absent


# The command


def test_the_command_goes_from_runs_to_results_and_again_without_runs(tmp_path, capsys):
    pytest.importorskip("sklearn")
    options = [
        "reproduce", "--preset", "smoke", "--datasets", "digits", "--distributions", "uniform",
        "--methods", "bb,bb+ts,oko-paper", "--seeds", "1", "--updates", "5", "--processes", "1",
        "--out", str(tmp_path / "runs"), "--results", str(tmp_path / "results"),
    ]  # fmt: skip
    assert main(options) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("3 runs, 0 failed")
    assert "figure 8 is missing" in printed
    assert (tmp_path / "runs" / "reproduction-smoke" / "figure-3.png").is_file()
    written = (tmp_path / "RESULTS.md").read_bytes()
    assert len(read_lines(tmp_path / "results")) == 3

    again = [*options[:-3], str(tmp_path / "elsewhere"), *options[-2:], "--dry-run", "--json"]
    assert main(again) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (len(plan["runs"]), plan["missing"], plan["cpu_hours"]) == (3, 0, 0.0)

    (tmp_path / "RESULTS.md").unlink()
    assert main(["reproduce", "--report", *options[-4:]]) == 0
    assert (tmp_path / "RESULTS.md").read_bytes() == written
    capsys.readouterr()
    assert main(["reproduce", "--claims", "--json", *options[-4:]]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(CLAIMS)


def test_killed_ten_times_it_comes_to_the_same_tables_and_repeats_nothing(tmp_path):
    pytest.importorskip("sklearn")
    options = "reproduce --preset smoke --datasets digits --updates 5 --processes 2"
    options += " --methods vanilla,bb,bb+ts,oko"
    killed, whole = killed_ten_times(tmp_path, options.split())
    assert whole["runs"] == 16
    assert _without_clock(killed) == _without_clock(whole)
    found = [
        [replace(run, seconds={}).to_dict() for run in RunStore(tmp_path / name).runs()]
        for name in ("killed", "whole")
    ]
    assert found[0] == found[1], "the same numbers, run by run"


def _without_clock(found):
    """A reproduction as JSON, without what depends on the speed of the machine."""
    claims = [claim for claim in found["claims"] if not claim["name"].startswith("cost")]
    return found | {"claims": claims, "cpu_seconds": 0.0}


def test_bad_options_end_in_one_line(capsys):
    assert main(["reproduce", "--sizes", "ten"]) == 2
    assert "--sizes must be whole numbers separated by commas, got 'ten'" in capsys.readouterr().err
