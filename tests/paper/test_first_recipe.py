"""The runs of version 0.1.0: those at the chosen rates, each seed once."""

from dataclasses import replace

from made_up import TEN_SHOT, made_up

from oddkout.comparing.config import RunConfig
from oddkout.paper.first_recipe import first_runs
from oddkout.paper.settings import Setting


def test_only_runs_at_the_rate_with_the_lowest_out_of_fold_nll_count():
    slow = [made_up(TEN_SHOT, "oko", rate=0.1, nll=0.5, seed=seed, folds=5) for seed in (0, 1)]
    fast = [made_up(TEN_SHOT, "oko", rate=0.2, nll=0.7, folds=5)]
    for runs in (slow + fast, fast + slow):
        assert sorted(first_runs(runs), key=lambda run: run.config.seed) == slow


def test_a_run_with_folds_is_preferred_to_the_same_run_without():
    folded, plain = (made_up(TEN_SHOT, "oko", folds=folds) for folds in (5, 0))
    for runs in ([folded, plain], [plain, folded]):
        assert first_runs(runs) == [folded]


def test_other_folds_than_those_of_the_grid_give_no_temperature():
    fewer = made_up(TEN_SHOT, "oko", folds=3)
    elsewhere = made_up(Setting("mnist", "uniform", 50), "oko", folds=5)
    for run in (fewer, elsewhere):
        assert first_runs([run]) == [replace(run, fold_metrics={})]


def test_a_line_of_version_0_1_names_neither_schedule_nor_members():
    line = {"data": "mnist", "distribution": "uniform", "train_examples": 100, "method": "bb"}
    config = RunConfig.from_dict(line)
    assert (config.schedule, config.members, config.averaging) == ("cosine", "single", None)
