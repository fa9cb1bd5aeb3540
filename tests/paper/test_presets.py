"""Presets: the grids of the paper and of the protocol."""

from collections import Counter

import pytest
from made_up import TEN_SHOT

from oddkout.comparing.grid import jobs_of
from oddkout.paper.presets import ABLATIONS, PRESETS, PROTOCOL_GRID, preset_named
from oddkout.paper.published import COLUMNS
from oddkout.paper.reproduce import planned
from oddkout.paper.settings import Setting, paper_sizes
from oddkout.paper.variants import variant_of

PAPER = PRESETS["paper"]


@pytest.fixture(scope="module")
def plans():
    """The runs that make the choices, and the others."""
    return {name: planned(PRESETS[name]) for name in ("paper", "cifar")}


def test_the_paper_preset_has_all_36_settings_of_the_paper():
    columns = Counter((setting.data, setting.distribution) for setting in PAPER.settings)
    assert columns == {(data, dist): 9 for data, dist in COLUMNS if not data.startswith("cifar")}
    assert paper_sizes("mnist") == (10, 20, 30, 40, 50, 100, 500, 1000, 2000)
    seeds = {setting.per_class: set() for setting in PAPER.settings}
    for setting, _, seed in PAPER.entries:
        seeds[setting.per_class].add(seed)
    assert all(own == set(range(40, 45 if size <= 100 else 43)) for size, own in seeds.items())


def test_the_numbers_of_runs_are_those_of_the_protocol(plans):
    choosing, runs = plans["paper"]
    assert (len(choosing), len(jobs_of(runs))) == (246, 1612)
    narrow, trained = plans["cifar"]
    assert (len(narrow), len(jobs_of(trained))) == (42, 117)
    assert len(PAPER.entries) == 1846
    assert len(PROTOCOL_GRID.entries) == 1846 + len(PRESETS["cifar"].entries)


def test_all_runs_are_single_networks_without_folds_on_seeds_that_no_choice_has_seen(plans):
    choosing, runs = plans["paper"]
    choosing, runs = choosing + plans["cifar"][0], runs + plans["cifar"][1]
    assert {(run.folds, run.members, run.calibrate) for run in runs} == {(0, "single", "none")}
    assert {run.seed for run in runs} == {40, 41, 42, 43, 44}
    assert {run.seed for run in choosing} == {0, 1, 2, 3, 4}
    assert {run.folds for run in choosing} == {1, 3, 5}


def test_every_method_of_a_setting_forwards_as_many_examples(plans):
    budgets = {}
    for config in plans["paper"][1]:
        key = (config.data, config.distribution, config.train_examples)
        own = (config.updates, config.examples, config.weight_decay)
        budgets.setdefault(key, set()).add(own)
    assert all(len(own) == 1 for own in budgets.values())


def test_ablations_change_one_thing():
    ks = {PAPER.config(TEN_SHOT, name).spec.k for name in ("pair", "oko-k1", "oko-k2", "oko-k3")}
    assert ks == {0, 1, 2, 3}
    specs = [PAPER.config(TEN_SHOT, name).spec for name in ABLATIONS]
    assert {spec.head for spec in specs} == {"none"}
    assert [spec.targets for spec in specs] == ["hard"] * 4 + ["soft"] * 3
    sizes = {setting.per_class for setting, name, _ in PAPER.entries if name == "oko-soft"}
    assert sizes == {10, 50, 500}


def test_cifar_has_narrow_networks_and_the_cluster_the_papers():
    configs = [PRESETS["cifar"].config(Setting(data, "uniform", 40), "oko")
               for data in ("cifar10", "cifar100")]  # fmt: skip
    assert [(config.model, config.examples, config.updates) for config in configs] == [
        ("resnet18-narrow", 60, 500), ("resnet18-narrow", 200, 597),
    ]  # fmt: skip
    cluster = PRESETS["cluster"]
    models = {setting.data: cluster.config(setting, "oko").model for setting in cluster.settings}
    assert models == {"cifar10": "resnet18", "cifar100": "resnet34"}
    assert {setting.per_class for setting in cluster.settings} == {40, 50, 100, 500, 1000, 2000}


def test_a_grid_with_a_protocol_can_only_be_restricted():
    part = preset_named("paper", datasets=["mnist"], sizes=[10, 500], variants=["oko", "pair"])
    assert {setting.per_class for setting in part.settings} == {10, 500}
    assert {seed for setting, _, seed in part.entries if setting.per_class == 500} == {40, 41, 42}
    assert set(part.entries) < set(PAPER.entries)
    assert {seed for *_, seed in preset_named("paper", seeds=2).entries} == {40, 41}
    with pytest.raises(ValueError, match=r"sizes of preset paper must be one of .* got '15'"):
        preset_named("paper", sizes=[15])
    with pytest.raises(ValueError, match="the protocol fixes the updates of preset paper, got 9"):
        preset_named("paper", updates=9)


def test_other_grids_can_be_changed():
    smoke = preset_named("smoke", datasets=["digits"], variants=["oko"], seeds=3, updates=5)
    assert [(setting.data, seed) for setting, _, seed in smoke.entries][:3] == [
        ("digits", 0), ("digits", 1), ("digits", 2),
    ]  # fmt: skip
    assert smoke.config(smoke.settings[0], "oko").updates == 5


def test_unknown_names_in_a_grid_are_refused():
    with pytest.raises(ValueError, match=r"method must be one of .* got 'okay'"):
        preset_named("smoke", variants=["okay"])
    with pytest.raises(ValueError, match="dataset must be one of"):
        preset_named("smoke", datasets=["imagenet"])
    with pytest.raises(
        ValueError, match="preset must be one of 'smoke', 'paper', 'cifar', 'cluster'"
    ):
        preset_named("huge")


def test_the_longest_runs_come_first_and_a_resnet_is_long():
    configs = [
        PROTOCOL_GRID.config(Setting(data, "uniform", size), "bb")
        for data, size in (("mnist", 30), ("mnist", 2000), ("cifar10", 40))
    ]
    order = [(job[0].data, job[0].train_examples) for job in jobs_of(configs)]
    assert order == [("mnist", 20_000), ("cifar10", 400), ("mnist", 300)]
    assert variant_of(configs[0]) == "bb"
