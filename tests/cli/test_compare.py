"""``oddkout compare``: killed, interrupted or failed, it resumes to the same table."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
from grids import environment, here, killed_ten_times, perform_nothing, within
from kills import times
from PIL import Image

from oddkout import load_data
from oddkout.cli import compare as command
from oddkout.cli import main
from oddkout.comparing import perform as performing
from oddkout.comparing.compare import compare
from oddkout.comparing.saved import comparison_record
from oddkout.comparing.store import RunStore
from oddkout.comparing.tables import comparison_json

SMALL_OPTIONS = ["--model", "mlp", "--updates", "20", "--folds", "2"]


@pytest.fixture(autouse=True)
def limit():
    """Limit the duration of every test."""
    with within(600):
        yield


@pytest.fixture
def in_this_process(monkeypatch):
    """Perform runs in this process; the list holds every job that was performed."""
    performed = []

    def executor(jobs):
        for runs in here(jobs):
            performed.append(tuple(run.config for run in runs))
            yield runs

    monkeypatch.setattr(command, "executor_named", lambda *_, **__: executor)
    return performed


def test_killed_ten_times_it_comes_to_the_same_table_and_repeats_nothing(tmp_path):
    options = "compare --model mlp --updates 5 --folds 2 --methods vanilla,bb,bb+ts --seeds 4"
    options += " --learning-rates 0.1,0.2 --processes 2"
    killed, whole = killed_ten_times(tmp_path, options.split())
    assert (Path(killed.pop("report")).is_file(), Path(whole.pop("report")).is_file()) == (1, 1)
    for record in (killed, whole):
        del record["versions"]
    assert killed == whole
    assert [row["method"] for row in whole["methods"]] == [
        "guess",
        "logistic",
        "vanilla",
        "bb",
        "bb+ts",
    ]


def test_interrupted_it_says_so_in_one_line_keeps_what_is_done_and_goes_on(
    tmp_path, in_this_process, capsys
):
    # Long enough for the interruption to find work however fast the machine is.
    updates = 200
    options = ["--methods", "vanilla,bb,bb+ts", "--seeds", "2", "--learning-rates", "0.1,0.2"]
    options += ["--model", "mlp", "--updates", str(updates), "--folds", "2"]
    options += ["--processes", "1", "--json", "--out", str(tmp_path / "runs")]
    driver = subprocess.Popen(
        [sys.executable, "-m", "oddkout", "compare", *options],
        env=environment(),
        start_new_session=True,
        # A shell in the background ignores SIGINT, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while not times(tmp_path / "runs"):
            assert driver.poll() is None, driver.stderr.read()
            time.sleep(0.02)
        workers = psutil.Process(driver.pid).children(recursive=True)
        os.killpg(driver.pid, signal.SIGINT)  # as a terminal does: to all of its processes
        out, err = driver.communicate(timeout=60)
    finally:
        driver.kill()
        driver.communicate()
    assert (driver.returncode, out, err) == (130, "", "oddkout: interrupted\n")
    assert workers
    assert psutil.wait_procs(workers, timeout=30)[1] == []
    kept = times(tmp_path / "runs")

    assert main(["compare", *options]) == 0
    assert kept.items() <= times(tmp_path / "runs").items()
    whole = compare(
        methods=["vanilla", "bb", "bb+ts"],
        seeds=2,
        learning_rates=[0.1, 0.2],
        folds=2,
        recipe={"model": "mlp", "updates": updates},
        out=tmp_path / "whole",
        executor=here,
    )
    printed = json.loads(capsys.readouterr().out)
    del printed["report"], printed["versions"]
    expected = comparison_record(whole) | comparison_json(whole)
    del expected["versions"]
    assert printed == json.loads(json.dumps(expected)), "processes or none, interrupted or not"


@pytest.mark.usefixtures("ours_alone")
def test_a_method_that_diverges_is_shown_as_failed_and_tried_again_on_request(
    tmp_path, in_this_process, capsys, monkeypatch
):
    def run(*options):
        capsys.readouterr()
        in_this_process.clear()
        everything = ["compare", *SMALL_OPTIONS, "--seeds", "1", "--out", str(tmp_path), *options]
        return main(everything), capsys.readouterr().out

    code, text = run("--methods", "vanilla,bb", "--learning-rates", "1e30")
    assert code == 1
    assert "vanilla failed: training stopped at update" in " ".join(text.split())
    assert "Every method failed; see the reasons.\n" in text

    failing = {"is_on": True}
    fit_stack = performing.fit_stack

    def fit_badly(*arguments, method, **options):
        if failing["is_on"] and method.name == "bb":
            raise MemoryError("9 GiB could not be had")
        return fit_stack(*arguments, method=method, **options)

    monkeypatch.setattr(performing, "fit_stack", fit_badly)
    options = ["--methods", "vanilla,bb", "--learning-rates", "0.1"]
    code, text = run(*options)
    assert code == 1
    assert "bb failed: MemoryError: 9 GiB could not be had " in " ".join(text.split())
    assert "vanilla has the highest mean accuracy" in text
    before = times(tmp_path)

    failing["is_on"] = False
    assert run(*options) == (1, text), "it stays failed"
    assert in_this_process == []
    code, text = run(*options, "--retry-failed")
    assert code == 0
    assert "failed" not in text
    assert [job[0].method for job in in_this_process] == ["bb"]
    after = times(tmp_path)
    assert len(before.items() & after.items()) == len(before) - 1, "nothing else was touched"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["nowhere.csv", "--target", "y"], "there is no file nowhere.csv"),
        (["digit"], "did you mean digits?"),
        (["--model", "mlpp"], "mlpp"),
        (["--folds", "-1"], "must be at least 0, got -1"),
        (["--methods", "vanila"], "method must be one of"),
        (["--learning-rates", "0.1,fast"], "--learning-rates must be numbers separated by commas"),
        (["--folds", "0"], "choosing among 2 learning rates needs folds, got folds=0"),
        (["--train-examples", "50"], "train_examples is the size of a subset"),
        (["--updates", "0"], "updates must be at least 1, got 0"),
        (["own.npz", "--test-size", "0"], "needs at least 2 test examples, got 0; raise test_size"),
        (["nan.npz"], "1 training examples hold NaN or infinity, at [0]; impute or drop them"),
        (["--seeds", "0"], "seeds must be at least 1, got 0"),
        (["--processes", "0"], "processes must be at least 1, got 0"),
        (["--executor", "moon"], "--executor must be one of 'local', 'ray', 'slurm', got 'moon'"),
        (["--address", "auto"], "--address needs --executor ray, got --executor local"),
    ],
)
def test_bad_input_ends_with_2_and_one_line_and_leaves_no_runs(
    tmp_path, capsys, monkeypatch, options, message
):
    monkeypatch.chdir(tmp_path)
    x, y = np.eye(12), np.arange(12) % 3
    np.savez("own.npz", x=x, y=y)
    broken = x.copy()
    broken[0, 0] = np.nan
    np.savez("nan.npz", x_train=broken, y_train=y, x_test=x, y_test=y)
    assert main(["compare", *options, "--out", str(tmp_path / "runs")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "runs").exists()


def test_a_damaged_run_ends_with_2_and_its_name(tmp_path, in_this_process, capsys):
    options = [*SMALL_OPTIONS, "--methods", "vanilla", "--seeds", "1", "--learning-rates", "0.1"]
    assert main(["compare", *options, "--out", str(tmp_path)]) == 0
    file = next(tmp_path.glob("*/run.json"))
    file.write_text(file.read_text()[:100])
    capsys.readouterr()
    assert main(["compare", *options, "--out", str(tmp_path)]) == 2
    assert str(file) in capsys.readouterr().err


@pytest.mark.usefixtures("ours_alone")
def test_own_data_that_have_moved_are_the_same_runs_and_changed_ones_are_not(
    tmp_path, monkeypatch, capsys
):
    performed = []

    def executor(jobs):
        for job in jobs:
            performed.append(job[0])
            runs = perform_nothing(job)
            for run in runs:
                run.classes = ("0", "1")
                run.logits = run.calibrated_logits = np.eye(2, dtype=np.float32)
                run.labels = np.arange(2)
            yield runs

    monkeypatch.setattr(command, "executor_named", lambda *_, **__: executor)
    monkeypatch.setattr(command, "_page", lambda out: None)  # these runs have no predictions
    data = load_data("digits")
    np.savez(tmp_path / "own.npz", x=data.x_test, y=data.y_test)
    options = ["--methods", "vanilla", "--seeds", "2", "--learning-rates", "0.1"]
    monkeypatch.chdir(tmp_path)
    out = ["--out", str(tmp_path / "runs")]
    assert main(["compare", "own.npz", *options, *out]) == 0
    assert len(performed) == 2
    assert performed[0].data == str(tmp_path / "own.npz")
    assert performed[0].updates == 905, "suited to 360 examples"
    (tmp_path / "there").mkdir()
    (tmp_path / "own.npz").rename(tmp_path / "there" / "mine.npz")
    assert main(["compare", "there/mine.npz", *options, *out]) == 0
    assert len(performed) == 2
    np.savez(tmp_path / "there" / "mine.npz", x=data.x_test, y=data.y_test[::-1])
    assert main(["compare", "there/mine.npz", *options, *out]) == 0
    assert len(performed) == 4
    assert len(RunStore(tmp_path / "runs").runs()) == 4


BRIEF = ["--methods", "vanilla,oko", "--seeds", "1", "--learning-rates", "0.1"]
BRIEF += ["--updates", "20", "--folds", "2", "--model", "mlp"]


def test_a_table_with_a_rare_class_and_missing_values_goes_to_a_report(tmp_path, in_this_process):
    """2,000 rows, two text classes 50 : 1, and missing cells in numbers and text."""
    rng = np.random.default_rng(0)
    rows, rare = 2000, 39
    kind = np.repeat(["healthy", "ill"], [rows - rare, rare])
    frame = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["age", "dose", "marker"])
    frame["marker"] += 2 * (kind == "ill")
    frame.loc[rng.random(rows) < 0.1, "dose"] = np.nan
    frame["site"] = rng.choice(["north", "south", None], rows)
    frame["diagnosis"] = kind
    frame.sample(frac=1, random_state=0).to_csv(tmp_path / "patients.csv", index=False)
    out = tmp_path / "runs"
    table = str(tmp_path / "patients.csv")
    assert main(["compare", table, "--target", "diagnosis", "--out", str(out), *BRIEF]) == 0
    page = (out / "report.html").read_text()
    assert "healthy" in page
    assert "missing cells were imputed" in page
    [run, *_] = RunStore(out).runs(has_predictions=True)
    assert sum(run.train_counts) + len(run.labels) == rows
    assert run.train_counts[0] / run.train_counts[1] == pytest.approx(50, rel=0.05)


def test_a_folder_of_images_goes_to_a_report(tmp_path, in_this_process):
    rng = np.random.default_rng(0)
    for number, name in enumerate(["cat", "dog"]):
        (tmp_path / "images" / name).mkdir(parents=True)
        for i in range(20 + 10 * number):
            pixels = rng.integers(0, 120, (20, 20, 3)) + 100 * number
            Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / f"images/{name}/{i}.png")
    out = tmp_path / "runs"
    assert main(["compare", str(tmp_path / "images"), "--out", str(out), *BRIEF]) == 0
    assert "dog" in (out / "report.html").read_text()
    runs = [run for run in RunStore(out).runs() if run.config.method != "guess"]
    assert all(run.value("accuracy") > 0.9 for run in runs)
