"""The learning rate of a method: chosen out of fold, in any order of the runs."""

from dataclasses import replace

from grids import SMALL, configs, run_of
from synthetic import synthetic_run, with_seed

from oddkout.comparing.grid import perform_grid
from oddkout.comparing.run import failed_runs
from oddkout.comparing.store import RunStore
from oddkout.comparing.tuning import best_config, perform_tuned


def test_without_an_out_of_fold_nll_the_first_candidate_is_taken():
    runs = [synthetic_run(with_seed(0, learning_rate=rate)) for rate in (0.3, 0.1, 0.2)]
    for run in runs:
        run.fold_metrics = {}
    assert best_config([run.config for run in runs], runs) == runs[0].config


def test_rates_are_chosen_out_of_fold_on_the_first_seed_without_a_look_at_the_test_part():
    best, asked = {"vanilla": 0.1, "oko": 0.3}, []

    class Poisoned(dict):
        def __getitem__(self, metric):
            raise AssertionError("tuning looked at the test part")

        get = items = values = keys = __iter__ = __getitem__

    def perform_noted(wanted):
        asked.append(wanted)
        runs = [
            run_of(config, fold_metrics=abs(config.learning_rate - best[config.method]))
            for config in wanted
        ]
        for run in runs:
            run.as_trained = run.tempered = Poisoned()
            run.logits = run.labels = None
        return runs

    final, tuning = perform_tuned(
        configs(["vanilla", "oko"]),
        choices={"learning_rate": (0.1, 0.2, 0.3)},
        seeds=[4, 5],
        perform=perform_noted,
    )
    assert [(run.config.method, run.config.learning_rate, run.config.seed) for run in final] == [
        ("vanilla", 0.1, 4),
        ("vanilla", 0.1, 5),
        ("oko", 0.3, 4),
        ("oko", 0.3, 5),
    ]
    assert {config.seed for config in asked[0]} == {4}
    assert len(tuning) == 6


def test_a_rate_that_fails_is_no_candidate():
    def perform_high_rates_badly(wanted):
        return [
            run_of(config, fold_metrics=config.learning_rate)
            if config.learning_rate >= 0.2
            else failed_runs([config], "diverged")[0]
            for config in wanted
        ]

    final, _ = perform_tuned(
        [SMALL],
        choices={"learning_rate": (0.1, 0.3, 0.2)},
        seeds=[0],
        perform=perform_high_rates_badly,
    )
    assert final[0].config.learning_rate == 0.2


def test_a_rate_that_is_given_twice_is_tried_once(tmp_path):
    def quick(jobs):
        for job in jobs:
            yield [run_of(config) for config in job]

    final, tuning = perform_tuned(
        configs(["vanilla", "oko"]),
        choices={"learning_rate": (0.1, 0.1, 0.2)},
        seeds=[0],
        perform=lambda wanted: perform_grid(wanted, RunStore(tmp_path), executor=quick),
    )
    assert [run.config.learning_rate for run in tuning] == [0.1, 0.2] * 2
    assert [run.config.method for run in final] == ["vanilla", "oko"]


def test_runs_stored_from_another_path_are_used(tmp_path):
    """Both configs have the same id, although their paths differ."""
    old, new = (replace(SMALL, data=path, fingerprint="f") for path in ("/old.csv", "/new.csv"))
    store = RunStore(tmp_path)
    for rate in (0.1, 0.2):
        store.write(run_of(replace(old, learning_rate=rate), fold_metrics=1 - rate))

    def none(jobs):
        raise AssertionError("everything is there")

    final, _ = perform_tuned(
        [new],
        choices={"learning_rate": (0.1, 0.2)},
        seeds=[0],
        perform=lambda wanted: perform_grid(wanted, store, executor=none),
    )
    assert final[0].config.learning_rate == 0.2


def test_choices_follow_each_other_and_every_method_gets_the_same_lists():
    """Each choice starts from the best so far; a method without own parameter chooses none."""
    asked = []

    def perform(wanted):
        asked.append(wanted)
        return [
            run_of(config, fold_metrics=config.learning_rate - config.dropout) for config in wanted
        ]

    choices = {"learning_rate": (0.1, 0.2), "dropout": (0.3, 0.5), "own": (0.3, 1.0)}
    final, tuning = perform_tuned(
        configs(["bb", "bb+ls"]), choices=choices, seeds=[0], perform=perform
    )
    assert [len(wanted) for wanted in asked] == [4, 2, 1, 2]
    assert {(c.learning_rate, c.dropout) for c in asked[1]} == {(0.1, 0.5)}
    assert asked[2][0].smoothing == 0.3 * 0.1
    assert [run.config.dropout for run in final] == [0.5, 0.5]
    assert len(tuning) == 7
