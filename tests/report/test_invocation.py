"""The command in a report repeats the comparison."""

import json
import shlex
from dataclasses import replace

import pytest
from synthetic import SETTING, fill

from oddkout.cli import main
from oddkout.comparing.compare import setting as compared_setting
from oddkout.comparing.saved import load_comparison
from oddkout.comparing.tables import comparison_json
from oddkout.decisions.cost_table import cost_table
from oddkout.fitting.recipe import suited_to
from oddkout.report.invocation import reproducing_command, training_command

pytestmark = pytest.mark.usefixtures("ours_alone")


def arguments_of(command):
    """The arguments of a command, split as a shell does."""
    return shlex.split(command.replace("\\\n", ""))[1:]


@pytest.mark.usefixtures("without_pictures")
def test_the_command_of_the_report_reads_the_same_runs(filled, monkeypatch, capsys):
    store, comparison = filled
    before = sorted(store.folder.glob("*/run.json"))
    command = reproducing_command(comparison, out=store.folder)

    def refuse(jobs):
        raise AssertionError(f"{len(jobs)} jobs are missing")
        yield

    monkeypatch.setattr("oddkout.cli.execution.LocalExecutor", lambda processes, **_: refuse)
    assert main([*arguments_of(command), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    expected = json.loads(json.dumps(comparison_json(comparison)))
    assert {name: printed[name] for name in expected} == expected
    assert sorted(store.folder.glob("*/run.json")) == before
    table = json.loads((store.folder / "tables.json").read_text())
    assert {name: table[name] for name in expected} == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"data": "my data/it's.csv", "fingerprint": "ab", "target": "y z", "population": "train",
         "distribution": "all", "train_examples": None, "categorical": ("a b", "c")},
        {"updates": 5, "dropout": 0.5, "test_size": 0.25, "model": "mlp", "examples": 30,
         "population": (0.1, 0.2, 0.3, 0.4)},
    ],
)  # fmt: skip
def test_the_command_has_every_option_that_is_not_the_default(tmp_path, monkeypatch, changes):
    suited = suited_to([40, 50])
    config = replace(SETTING, **suited | changes)
    store, comparison = fill(tmp_path, methods=["vanilla", "oko"], seeds=2, setting=config)
    for run in comparison.runs:
        run.train_counts = [40, 50]
    calls = []
    monkeypatch.setattr("oddkout.cli.compare._page", lambda out: None)

    def spy(source, **options):
        calls.append((source, options))
        return comparison

    monkeypatch.setattr("oddkout.cli.compare.compare", spy)
    command = reproducing_command(comparison, out=store.folder)
    assert ("--updates" in command) == ("updates" in changes)
    main(arguments_of(command))
    [(source, options)] = calls
    assert options.pop("methods") == ["vanilla", "oko"]
    assert (options.pop("seeds"), options.pop("learning_rates")) == (2, [0.1, 0.2])
    for name in ("retry_failed", "executor", "progress", "choose", "contestants", "raw",
                 "time_limit", "costs", "criterion"):  # fmt: skip
        del options[name]

    class FakeData:
        class_sizes = (40, 50)
        classes = ("a", "b", "c", "d")
        y_train = range(90)
        is_benchmark = source == "digits"

    monkeypatch.setattr("oddkout.comparing.compare.data_for", lambda config: FakeData)
    monkeypatch.setattr("oddkout.comparing.compare.check", lambda config: None)
    monkeypatch.setattr("oddkout.comparing.compare.identified", lambda config: config)
    again = compared_setting(source, **options)
    assert again == replace(comparison.setting, fingerprint="")


def test_a_failed_method_does_not_change_the_command(tmp_path):
    suited = replace(SETTING, **suited_to([40, 50]))
    commands = []
    for is_failing in (False, True):
        _, comparison = fill(
            tmp_path / str(is_failing),
            methods=["vanilla", "oko"],
            setting=suited,
            is_failing=lambda config, fails=is_failing: fails and config.method == "vanilla",
        )
        for run in comparison.runs:
            run.train_counts = [] if run.has_failed else [40, 50]
        commands.append(reproducing_command(comparison, out="runs"))
    assert commands[0] == commands[1]
    assert commands[0].startswith("oddkout compare digits")


def test_a_recipe_that_no_option_has_is_reproduced_in_python(tmp_path):
    config = replace(SETTING, weight_decay=0.01)
    _, comparison = fill(tmp_path, methods=["vanilla", "oko"], setting=config)
    for run in comparison.runs:
        run.train_counts = [10] * 10
    before = len(list(tmp_path.glob("*/run.json")))
    names: dict[str, object] = {}
    program = reproducing_command(comparison, out=tmp_path).replace(
        "oko.compare", "again = oko.compare"
    )
    exec(program, names)
    assert comparison_json(names["again"]) == comparison_json(comparison)
    assert len(list(tmp_path.glob("*/run.json"))) == before


COSTS = [[0, 5, 5, 5, 1], [5, 0, 5, 5, 1], [5, 5, 0, 5, 1], [9, 9, 9, 0, 1]]


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize("criterion", ["nll", "cost"])
def test_the_command_repeats_costs_and_criterion(tmp_path, criterion, capsys):
    options = {"methods": ["vanilla", "oko"], "seeds": 2, "costs": COSTS, "criterion": criterion}
    store, comparison = fill(tmp_path / "runs", **options)
    command = reproducing_command(comparison, out=store.folder)
    assert f"--costs {store.folder}/costs.csv" in command
    assert ("--criterion" in command) == (criterion == "nll"), "with costs, cost is the default"
    table = load_comparison(store.folder)
    assert table.criterion == criterion
    again = cost_table(store.folder / "costs.csv", classes=comparison.runs[0].classes)
    assert again.matrix.tolist() == COSTS
    assert again.answers == comparison.costs.answers == table.costs.answers


def test_the_winner_is_trained_by_one_command_and_your_own_classifier_is_not(tmp_path):
    store, comparison = fill(tmp_path / "my runs", methods=["vanilla", "oko"], seeds=1)
    command = training_command(comparison, runs=store.folder)
    assert arguments_of(command) == [
        *("train", "digits", "--method", "best", "--from", str(store.folder), "--out", "model")
    ]
    mine = replace(comparison.runs[0].config, method="mine", contestant="Mine()")
    own = replace(comparison.runs[0], config=mine, fold_metrics={"nll": 0.01, "accuracy": 1.0})
    with_mine = replace(comparison, runs=[own, *comparison.runs])
    assert with_mine.winner == "mine"
    ours = f"oddkout train digits --method {comparison.winner} --out model"
    assert training_command(with_mine, runs="runs") == ours
    guess = replace(own, config=replace(mine, method="guess", contestant=""))
    assert training_command(replace(comparison, runs=[guess, *comparison.runs]), runs="r") is None
