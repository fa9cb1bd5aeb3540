"""Presets: the grids of the paper."""

from collections import Counter
from dataclasses import replace

import pytest
from made_up import TEN_SHOT, made_up

from oddkout.comparing.config import RunConfig
from oddkout.comparing.grid import jobs_of
from oddkout.comparing.run import Run
from oddkout.fitting.methods import PAPER_METHODS
from oddkout.paper.evidence import Evidence
from oddkout.paper.presets import FEW_SHOT_SIZES, PRESETS, preset_named
from oddkout.paper.published import (
    COLUMNS,
)
from oddkout.paper.reproduce import final_configs, planned, planned_counts, tuning_configs
from oddkout.paper.settings import SIZES, Setting, paper_sizes
from oddkout.paper.variants import variant_of


def test_the_few_shot_preset_has_the_settings_methods_and_seeds_of_its_description():
    preset = PRESETS["few-shot"]
    assert preset.datasets == ("mnist", "fashion_mnist")
    assert preset.distributions == ("uniform", "heavy-tailed")
    assert preset.sizes == FEW_SHOT_SIZES == tuple(size for size in SIZES if size <= 100)
    assert set(PAPER_METHODS) <= set(preset.variants)
    assert preset.seeds == 5
    settings = 2 * 2 * 6
    tuning = 2 * 2 * len(preset.variants)  # one rate more on the first seed, at one size
    unfitted = 5 * 5 * 2 * 2  # bb+ts-fit is at one size of six
    assert len(planned(preset)) == settings * len(preset.variants) * 5 + tuning - unfitted
    assert sum(planned_counts(preset).values()) == len(planned(preset))


def test_the_paper_preset_covers_the_protocol_of_the_paper():
    preset = PRESETS["paper"]
    sizes = {"mnist": 9, "fashion_mnist": 9, "cifar10": 6, "cifar100": 3}
    sizes_per_column = Counter((setting.data, setting.distribution) for setting in preset.settings)
    assert sizes_per_column == {(data, dist): sizes[data] for data, dist in COLUMNS}
    assert paper_sizes("mnist") == (10, 20, 30, 40, 50, 100, 500, 1000, 2000)
    models = {setting.data: preset.config(setting, "oko").model for setting in preset.settings}
    assert models["cifar10"] == "resnet18"
    assert models["cifar100"] == "resnet34"
    ks = {preset.config(TEN_SHOT, name).spec.k for name in ("pair", "oko-k1", "oko-k2", "oko-k3")}
    assert ks == {0, 1, 2, 3}
    assert all(
        preset.config(TEN_SHOT, name).spec.head == "none" for name in ("oko-k1", "oko-k2", "oko-k3")
    )
    assert {preset.config(TEN_SHOT, f"oko-soft-k{k}").spec.targets for k in (2, 3)} == {"soft"}


def test_the_cifar_preset_has_one_setting_of_each_with_narrow_resnets():
    preset = PRESETS["cifar"]
    configs = [preset.config(setting, "oko") for setting in preset.settings]
    budgets = [(config.model, config.train_examples, config.updates) for config in configs]
    assert budgets == [("resnet18-narrow", 500, 200), ("resnet34-narrow", 5000, 100)]
    evidence = Evidence([Run(config=replace(configs[0], learning_rate=0.1))], PRESETS["paper"])
    assert evidence.others == 1, "narrow networks are no evidence on the paper's"


@pytest.mark.parametrize("name", ["smoke", "few-shot", "paper"])
def test_a_temperature_is_fitted_only_where_there_are_folds(name):
    preset = PRESETS[name]
    fitted = [setting for setting, variant in preset.entries if variant == "bb+ts-fit"]
    assert {str(setting) for setting in fitted if setting.distribution == "uniform"} >= {
        "MNIST, uniform, 10 per class",
        "FashionMNIST, uniform, 10 per class",
    }
    assert all(preset.config(setting, "bb+ts-fit").folds == 5 for setting in fitted)
    with pytest.raises(ValueError, match=r"bb\+ts-fit needs the sizes that have folds, 10"):
        preset_named(name, sizes=[50], datasets=["mnist"], variants=["bb+ts-fit"])
    for folds in (0, 3):
        other = replace(made_up(TEN_SHOT, "bb+ts-fit").config, folds=folds)
        assert Evidence([Run(config=other)], PRESETS["paper"]).others == 1


def test_sizes_are_per_class_and_runs_have_totals():
    config = PRESETS["paper"].config(Setting("mnist", "heavy-tailed", 20), "bb")
    assert config.train_examples == 200
    assert config.distribution == "heavy-tailed"


def test_a_few_shot_run_is_a_run_of_version_0_1():
    """A line of version 0.1.0 names no schedule and no members: it is the run of the preset."""
    by_preset = replace(PRESETS["few-shot"].config(TEN_SHOT, "bb+ls"), learning_rate=0.1)
    added = ("schedule", "smoothing", "gamma", "members", "calibrate", "averaging")
    line = {name: value for name, value in by_preset.to_dict().items() if name not in added}
    assert RunConfig.from_dict(line) == by_preset
    assert (by_preset.updates, by_preset.members, by_preset.schedule) == (600, "single", "cosine")


def test_the_papers_recipe_chooses_from_its_own_rates():
    preset = preset_named("few-shot", variants=["oko", "oko-paper"], sizes=[10])
    tried = {variant_of(config): set() for config in tuning_configs(preset)}
    for config in tuning_configs(preset):
        tried[variant_of(config)].add(config.learning_rate)
    assert tried == {"oko": {0.1, 0.2}, "oko-paper": {0.025, 0.05}}
    assert {config.learning_rate for config in final_configs(preset, {"oko": 0.2})} == {0.2, 0.025}


def test_unknown_names_in_a_grid_are_refused():
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
