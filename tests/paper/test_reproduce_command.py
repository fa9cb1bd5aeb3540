"""``oddkout reproduce``: from runs to results, resumable, with errors in one line."""

import json
from dataclasses import replace

import pytest
from grids import killed_ten_times
from made_up import TEN_SHOT, made_up

from oddkout.cli import main
from oddkout.comparing.store import RunStore
from oddkout.paper.claims import CLAIMS
from oddkout.paper.lines import merge_lines, read_lines


def test_the_command_writes_results_and_rebuilds_them_from_committed_runs(tmp_path, capsys):
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
    assert "without a temperature" in page
    written = (tmp_path / "RESULTS.md").read_bytes()
    lines = read_lines(tmp_path / "results")
    assert len(lines) == 3
    assert (tmp_path / "docs" / "results" / "claims.md").is_file()

    again = [*options[:-3], str(tmp_path / "elsewhere"), *options[-2:], "--dry-run", "--json"]
    assert main(again) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (len(plan["runs"]), plan["missing"], plan["cpu_hours"]) == (3, 0, 0.0)

    (tmp_path / "RESULTS.md").unlink()
    assert main(["reproduce", "--report", *options[-4:]]) == 0
    assert (tmp_path / "RESULTS.md").read_bytes() == written
    assert read_lines(tmp_path / "results") == lines
    capsys.readouterr()
    assert main(["reproduce", "--claims", "--json", *options[-4:]]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(CLAIMS)


def test_committed_runs_are_judged_by_the_grid_of_the_paper(tmp_path, capsys):
    runs = [
        made_up(TEN_SHOT, name, seed=seed, accuracy=accuracy + seed / 1000)
        for name, accuracy in (("oko", 0.9), ("bb", 0.8))
        for seed in (40, 41, 42)
    ]
    merge_lines(tmp_path / "results", runs)
    command = ["reproduce", "--claims", "--json", "--results", str(tmp_path / "results")]
    assert main([*command, "--out", str(tmp_path / "runs")]) == 0
    verdicts = {item["name"]: item["verdict"] for item in json.loads(capsys.readouterr().out)}
    assert verdicts["accuracy/mnist/uniform/bb"] == "holds"
    assert verdicts["accuracy/mnist/uniform/vanilla"] == "no data"


@pytest.mark.parametrize("what", ["--claims", "--report"])
def test_a_missing_folder_of_results_is_refused(tmp_path, capsys, what):
    assert main(["reproduce", what, "--results", str(tmp_path / "resluts")]) == 2
    assert "--results must be a folder of committed runs" in capsys.readouterr().err
    assert not list(tmp_path.iterdir()), "nothing is written beside a folder that does not exist"


def test_a_file_in_place_of_the_results_is_refused_before_any_run(tmp_path, capsys):
    (tmp_path / "results").write_text("a file")
    command = ["reproduce", "--preset", "smoke", "--out", str(tmp_path / "runs")]
    assert main([*command, "--results", str(tmp_path / "results")]) == 2
    assert "--results must be a folder of committed runs" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_grid_that_is_killed_ten_times_resumes_to_the_same_tables(tmp_path):
    pytest.importorskip("sklearn")
    options = "reproduce --preset smoke --datasets digits --updates 5 --processes 2"
    options += " --methods vanilla,bb,bb+ts,oko"
    killed, whole = killed_ten_times(tmp_path, options.split())
    assert whole["runs"] == 16
    assert _without_clock(killed) == _without_clock(whole)
    numbers = [
        [replace(run, seconds={}).to_dict() for run in RunStore(tmp_path / name).runs()]
        for name in ("killed", "whole")
    ]
    assert numbers[0] == numbers[1], "the same numbers, run by run"


def _without_clock(reproduction):
    """A reproduction as JSON, without what depends on the speed of the machine."""
    claims = [claim for claim in reproduction["claims"] if not claim["name"].startswith("cost")]
    return reproduction | {"claims": claims, "cpu_seconds": 0.0}


def test_bad_options_give_one_line_of_error(capsys):
    assert main(["reproduce", "--sizes", "ten"]) == 2
    assert "--sizes must be whole numbers separated by commas, got 'ten'" in capsys.readouterr().err
