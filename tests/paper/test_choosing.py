"""Choices: the same lists for every method, scored out of fold, without the test part."""

from dataclasses import replace

import numpy as np
import pytest
from made_up import TEN_SHOT

from oddkout.comparing.run import Run, failed_runs
from oddkout.data import load_data
from oddkout.paper import choosing
from oddkout.paper.choosing import Choosing, chosen_as, made_choices, perform_choice, with_choices
from oddkout.paper.presets import PRESETS, SAME_ON_UNIFORM
from oddkout.paper.settings import Setting

PAPER = PRESETS["paper"]
HEAVY = Setting("mnist", "heavy-tailed", 20)
GROUP = Choosing(
    datasets=("mnist",),
    sizes=(10, 100),
    lists={"learning_rate": (0.2, 0.1), "dropout": (0.3, 0.5), "own": (1.0, 0.3)},
    references=((TEN_SHOT, 0), (HEAVY, 2)),
    folds=5,
)


def scored(nll_of, performed):
    """Runs whose out-of-fold NLL is a function of their config; None fails."""

    def perform(configs):
        performed.extend(configs)
        return [
            Run(config=config, fold_metrics={"nll": nll})
            if (nll := nll_of(config)) is not None
            else failed_runs([config], "diverged")[0]
            for config in configs
        ]

    return perform


def test_one_choice_follows_the_other_by_mean_log_nll():
    """A rate of 0.1 is better on one setting by a factor of 2, worse on the other by 1.5."""

    def nll_of(config):
        rate = {100: 0.5, 200: 1.5}[config.train_examples] if config.learning_rate == 0.1 else 1.0
        return rate * (0.9 if config.dropout == 0.5 else 1) * (2 if config.smoothing else 1)

    performed = []
    picked, runs = made_choices(GROUP, PAPER.config, ["bb+ls", "bb"], scored(nll_of, performed))
    assert picked["bb+ls"] == {"learning_rate": 0.1, "dropout": 0.5, "own": 1.0}
    assert {name: picked["bb"][name] for name in ("learning_rate", "dropout")} == {
        "learning_rate": 0.1, "dropout": 0.5,
    }  # fmt: skip
    by_method = {name: {run.config for run in runs if run.config.method == name} for name in picked}
    assert (len(by_method["bb+ls"]), len(by_method["bb"])) == (2 * 4, 2 * 3)
    assert {(config.train_examples, config.seed, config.folds) for config in performed} == {
        (100, 0, 5), (200, 2, 5),
    }  # fmt: skip


def test_a_candidate_that_fails_is_not_eligible():
    picked, _ = made_choices(
        GROUP, PAPER.config, ["bb"],
        scored(lambda config: None if config.learning_rate == 0.1 else 9.0, []),
    )  # fmt: skip
    assert picked["bb"]["learning_rate"] == 0.2


def test_every_method_has_as_many_candidates_as_its_lists():
    """Four for each reference setting, and five for methods with a parameter of their own."""
    for group in PAPER.choices:
        configs = choosing.planned_choices(group, PAPER.config, PAPER.chosen_variants(group))
        for variant in PAPER.chosen_variants(group):
            own = [config for config in configs if config.method == variant]
            has_own = variant in ("vanilla+ls", "focal", "bb+ls", "oko", "vanilla+ls+la")
            assert len(own) == len(group.references) * (5 if has_own else 4), variant


def test_ablations_use_the_choices_of_oko_and_no_other_parameter():
    assert {chosen_as(name) for name in ("pair", "oko", "oko-k3", "oko-soft-k2")} == {"oko"}
    assert chosen_as("bb+ts") == "bb"
    assert chosen_as("oko+la") == "oko+la"
    assert set(SAME_ON_UNIFORM) == {"weighted"}
    picked = {"learning_rate": 0.4, "dropout": 0.5, "own": 0.3}
    oko, pair = (with_choices(PAPER.config(TEN_SHOT, name), picked) for name in ("oko", "pair"))
    assert (oko.learning_rate, oko.dropout, oko.head_weight) == (0.4, 0.5, pytest.approx(0.6))
    assert (pair.learning_rate, pair.dropout, pair.head_weight) == (0.4, 0.5, 2.0)
    half = with_choices(PAPER.config(TEN_SHOT, "bb"), {"updates": 0.5})
    assert half.updates == 300


def test_a_choice_never_sees_the_test_part(monkeypatch):
    """Whatever the test part holds, the numbers are the same, and no test metric is computed."""
    config = PRESETS["smoke"].config(Setting("digits", "uniform", 10), "oko")
    config = replace(config, updates=20, folds=2, members="folds")
    data = load_data("digits", distribution="uniform", train_examples=100, seed=0)
    spoilt = replace(data, x_test=np.zeros_like(data.x_test))
    numbers = []
    for given in (data, spoilt):
        monkeypatch.setattr(choosing, "data_for", lambda config, given=given: given)
        [run] = perform_choice([config])
        assert not run.has_failed, run.reason
        assert (run.as_trained, run.tempered, run.logits) == ({}, {}, None)
        numbers.append(run.fold_metrics["nll"])
    assert numbers[0] == numbers[1]
    assert 0 < numbers[0] < 4


def test_a_choice_that_cannot_be_fitted_is_a_failed_run(monkeypatch):
    def broken(config):
        raise ValueError("no such data")

    monkeypatch.setattr(choosing, "data_for", broken)
    [run] = perform_choice([PAPER.config(TEN_SHOT, "oko")])
    assert run.reason == "no such data"
