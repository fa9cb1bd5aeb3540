"""Which runs a report compares, and the command that performs them again."""

import itertools
import json
import shlex
from dataclasses import replace

import pytest
from synthetic import SETTING, fill, synthetic_run, with_seed

import oddkout as oko
from oddkout.cli import main
from oddkout.comparing.duels import comparisons_in, titles
from oddkout.comparing.store import RunStore
from oddkout.comparing.tuning import best_config
from oddkout.fitting.recipe import suited_to
from oddkout.report.invocation import reproducing_command
from oddkout.report.tables import comparison_json


def arguments_of(command):
    """What the shell makes of a command, after the name of the program."""
    return shlex.split(command.replace("\\\n", ""))[1:]


def configs(runs):
    return {run.config for run in runs}


# Which runs are compared


@pytest.mark.parametrize("rates", [(0.05, 0.1, 0.2), (0.2, 0.05, 0.1)])
@pytest.mark.parametrize("folds", [2, 0])
def test_runs_on_disk_give_the_comparison_that_compare_returned(tmp_path, rates, folds):
    def is_failing(config):
        return config.method == "focal" and config.learning_rate == 0.1

    setting = replace(SETTING, folds=folds)
    store, returned = fill(
        tmp_path,
        methods=["oko", "vanilla", "focal", "pair"],
        rates=rates,
        setting=setting,
        is_failing=is_failing,
    )
    [found] = comparisons_in(store.runs())
    assert configs(found.runs) == configs(returned.runs)
    assert configs(found.tuning) == configs(returned.tuning)
    assert len(found.runs) == 4 * 3
    if folds:
        for method, runs in found.by_method.items():
            nll = {
                run.config.learning_rate: run.out_of_fold["nll"]
                for run in found.tuning
                if run.config.method == method and not run.has_failed
            }
            assert len(nll) == 3 - (method == "focal")
            assert {nll[run.config.learning_rate] for run in runs} == {min(nll.values())}
    assert not found.unpaired
    assert comparison_json(found) == comparison_json(returned)
    assert found.failed == {}


def test_without_an_out_of_fold_nll_the_lowest_rate_is_taken():
    runs = [synthetic_run(with_seed(0, learning_rate=rate)) for rate in (0.3, 0.1, 0.2)]
    for run in runs:
        run.out_of_fold = {}
    assert {best_config(order).learning_rate for order in itertools.permutations(runs)} == {0.1}


def test_every_setting_is_a_comparison_with_a_name_of_its_own(tmp_path):
    for changes in ({}, {"updates": 99}, {"train_examples": 1000}):
        fill(tmp_path, methods=["vanilla", "oko"], seeds=2, setting=replace(SETTING, **changes))
    found = comparisons_in(RunStore(tmp_path).runs())
    assert [len(one.runs) for one in found] == [4, 4, 4]
    assert sorted(titles(found)) == [
        "digits, heavy-tailed, 1,000 training examples",
        "digits, heavy-tailed, 200 training examples; updates 600",
        "digits, heavy-tailed, 200 training examples; updates 99",
    ]


def test_each_k_is_compared_with_the_methods_that_have_none(tmp_path):
    for k in (1, 3):
        fill(tmp_path, methods=["vanilla", "pair", "oko"], setting=replace(SETTING, k=k))
    found = comparisons_in(RunStore(tmp_path).runs())
    assert [one.by_method["oko"][0].config.k for one in found] == [1, 3]
    assert all(list(one.by_method) == ["vanilla", "pair", "oko"] for one in found)
    assert [title.split("; ")[1] for title in titles(found)] == ["k 1", "k 3"]


@pytest.mark.usefixtures("without_pictures")
def test_of_a_grid_that_was_killed_the_seeds_that_all_methods_have_are_compared(tmp_path):
    store, returned = fill(tmp_path, methods=["vanilla", "oko"], seeds=4)
    last = [run for run in returned.runs if run.config.method == "oko"][-1]
    store.forget(last)
    [found] = comparisons_in(store.runs())
    assert {run.config.seed for run in found.runs} == {0, 1, 2}
    assert [run.config.method for run in found.unpaired] == ["vanilla"]
    text = oko.write_report(tmp_path)["html"].read_text()
    assert "1 finished run is left out" in text


# What performs it again


@pytest.mark.usefixtures("without_pictures")
def test_the_command_of_the_report_reads_the_same_runs(filled, monkeypatch, capsys):
    store, comparison = filled
    before = sorted(store.folder.glob("*/run.json"))
    command = reproducing_command(comparison, out=store.folder)

    def refuse(jobs):
        raise AssertionError(f"{len(jobs)} jobs are missing")
        yield

    monkeypatch.setattr("oddkout.cli.execution.LocalExecutor", lambda processes: refuse)
    assert main([*arguments_of(command), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    expected = json.loads(json.dumps(comparison_json(comparison)))
    assert {name: shown[name] for name in expected} == expected
    assert sorted(store.folder.glob("*/run.json")) == before
    [entry] = json.loads((store.folder / "tables.json").read_text())
    assert {name: entry[name] for name in expected} == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"data": "my data/it's.csv", "fingerprint": "ab", "target": "y z", "population": "train",
         "distribution": "all", "train_examples": None, "categorical": ("a b", "c")},
        {"updates": 5, "dropout": 0.5, "test_size": 0.25, "model": "mlp", "examples": 30},
    ],
)  # fmt: skip
def test_the_command_has_every_option_that_is_not_the_default(tmp_path, monkeypatch, changes):
    own = suited_to([40, 50])
    setting = replace(SETTING, **own | changes)
    store, comparison = fill(tmp_path, methods=["vanilla", "oko"], seeds=2, setting=setting)
    for run in comparison.runs:
        run.train_counts = [40, 50]
    seen = []
    monkeypatch.setattr("oddkout.cli.compare.suited", lambda config: replace(config, **own))
    monkeypatch.setattr("oddkout.cli.compare._page", lambda out: None)

    def spy(config, **told):
        seen.append((config, told))
        return comparison

    monkeypatch.setattr("oddkout.cli.compare.compare", spy)
    command = reproducing_command(comparison, out=store.folder)
    assert ("--updates" in command) == ("updates" in changes)
    main(arguments_of(command))
    [(config, told)] = seen
    assert replace(config, learning_rate=0.1) == replace(setting, learning_rate=0.1, fingerprint="")
    assert told["methods"] == ["vanilla", "oko"]
    assert (told["seeds"], told["learning_rates"]) == (2, [0.1, 0.2])


def test_a_recipe_that_no_option_has_is_reproduced_in_python(tmp_path):
    setting = replace(SETTING, weight_decay=0.01, k=2)
    _, comparison = fill(tmp_path, methods=["vanilla", "oko"], setting=setting)
    before = len(list(tmp_path.glob("*/run.json")))
    names: dict[str, object] = {}
    program = reproducing_command(comparison, out=tmp_path).replace(
        "oko.compare", "again = oko.compare"
    )
    exec(program, names)
    assert comparison_json(names["again"]) == comparison_json(comparison)
    assert len(list(tmp_path.glob("*/run.json"))) == before
