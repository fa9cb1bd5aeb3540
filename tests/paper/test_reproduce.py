"""``oddkout reproduce``: what is missing is performed, lines are kept, killed it goes on."""

import json
from dataclasses import replace

import pytest
from grids import killed_ten_times
from made_up import TEN_SHOT, made_up

from oddkout.cli import main
from oddkout.comparing.run import Run
from oddkout.comparing.store import RunStore
from oddkout.paper.claims import CLAIMS
from oddkout.paper.lines import CommittedStore, merge_lines, read_lines
from oddkout.paper.presets import preset_named
from oddkout.paper.reproduce import planned, reproduce
from oddkout.paper.settings import Setting

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


def test_a_part_of_a_grid_has_the_rates_of_the_whole(tmp_path):
    """One data set alone would choose 0.1; the other is surer of 0.2."""
    fashion = Setting("fashion_mnist", "uniform", 10)
    known = [
        made_up(setting, "oko", rate=rate, nll=nll)
        for setting, found in ((TEN_SHOT, {0.1: 0.5, 0.2: 0.6}), (fashion, {0.1: 2.0, 0.2: 1.0}))
        for rate, nll in found.items()
    ]
    part = preset_named(
        "few-shot", datasets=["mnist"], distributions=["uniform"], sizes=[50], variants=["oko"],
        seeds=1,
    )  # fmt: skip
    for lines, rate in ((known[:2], 0.1), (known, 0.2)):
        performed = []
        store = CommittedStore(tmp_path / str(rate), lines)
        reproduce(part, store, executor=stub_executor(0.1, performed))
        assert [config.learning_rate for config in performed] == [rate]


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
    assert run.config.folds == 5
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
    with pytest.raises(ValueError, match=r"runs-mnist.jsonl, line 2 must be a run"):
        read_lines(tmp_path)


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
    folder = tmp_path / "runs" / "reproduction-smoke"
    assert (folder / "figure-3.png").is_file()
    page = (folder / "results.md").read_text()  # which knows what the grid did not do
    assert "from its runs" in page
    assert "no temperature is fitted" in page
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


def test_committed_runs_are_judged_by_the_grid_of_the_paper(tmp_path, capsys):
    runs = [
        made_up(TEN_SHOT, name, seed=seed, accuracy=accuracy + seed / 100)
        for name, accuracy in (("oko", 0.9), ("bb", 0.8))
        for seed in range(3)
    ]
    merge_lines(tmp_path / "results", runs)
    command = ["reproduce", "--claims", "--json", "--results", str(tmp_path / "results")]
    assert main([*command, "--out", str(tmp_path / "runs")]) == 0
    verdicts = {item["name"]: item["verdict"] for item in json.loads(capsys.readouterr().out)}
    assert verdicts["accuracy/mnist/uniform/bb"] == "holds"
    assert verdicts["accuracy/mnist/uniform/vanilla"] == "no data"


def test_claims_of_a_folder_that_is_not_there_are_refused(tmp_path, capsys):
    assert main(["reproduce", "--claims", "--results", str(tmp_path / "resluts")]) == 2
    assert "--results must be a folder of committed runs" in capsys.readouterr().err


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
