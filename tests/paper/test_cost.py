"""The cost of runs, spent and extrapolated."""

from dataclasses import replace

import pytest
from made_up import TEN_SHOT, made_up

from oddkout.paper.cost import extrapolated_seconds, spent_seconds
from oddkout.paper.presets import PRESETS
from oddkout.paper.settings import Setting


def test_a_shared_training_is_counted_once():
    together = [made_up(TEN_SHOT, name) for name in ("bb", "bb+ts", "oko")]
    assert spent_seconds(together) == pytest.approx(2 * (10 + 50 + 2))
    together[0].seconds["cpu"] = together[1].seconds["cpu"] = 35.0
    assert spent_seconds(together) == pytest.approx(35 + 62)


def test_costs_are_extrapolated_by_updates_examples_and_runs():
    """Training takes 10 s, what comes after it 2 s; five folds train four times as much again."""
    runs = [made_up(TEN_SHOT, "oko", seed=seed) for seed in range(3)]
    settings = [Setting("mnist", "heavy-tailed", size) for size in (10, 30)]
    plan = dict.fromkeys([PRESETS["paper"].config(setting, "bb") for setting in settings], 1)
    assert extrapolated_seconds(runs, plan) is None, "none knows its CPU-seconds"
    for run in runs:
        run.seconds["cpu"] = 50.0 + 2.0
    assert extrapolated_seconds(runs, plan) == pytest.approx(2 * 52 / 5), "by examples alone"
    runs.append(made_up(settings[0], "bb"))
    runs[-1].seconds["cpu"] = 10.0 + 2.0
    assert extrapolated_seconds(runs, plan) == pytest.approx(24)
    assert extrapolated_seconds(runs, dict.fromkeys(plan, 5)) == pytest.approx(120)
    double = {replace(config, updates=2 * config.updates): 1 for config in plan}
    assert extrapolated_seconds(runs, double) == pytest.approx(44)
    folded = {PRESETS["paper"].config(TEN_SHOT, "bb"): 1}
    assert extrapolated_seconds(runs, folded) == pytest.approx(52)
    assert extrapolated_seconds([], plan) is None
    runs.append(replace(runs[-1], config=replace(runs[-1].config, examples=40, updates=300)))
    runs[-1].seconds = {"cpu": 8.0 + 2.0}  # larger updates are cheaper: 600 of 20 took 10 s
    larger = {replace(config, examples=60, updates=200): 1 for config in plan}
    assert extrapolated_seconds(runs, larger) == pytest.approx(2 * (4 / 3 + 6 + 2))
