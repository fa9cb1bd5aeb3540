"""``oddkout train``: every method and option, bad input, and peak memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from oddkout import Classifier, compare
from oddkout.cli import main
from oddkout.fitting.methods import METHODS

DATA = os.environ.get("ODDKOUT_DATA", "")
needs_data = pytest.mark.skipif(
    not (Path(DATA) / "mnist.npz").is_file(), reason="ODDKOUT_DATA names no folder with mnist.npz"
)


def trained(tmp_path, *options, source="digits", updates=60):
    out = tmp_path / "model"
    arguments = ["train", source, "--updates", str(updates), "--out", str(out)]
    arguments += ["--learning-rates", "0.1", "--folds", "2", *options]
    assert main(arguments) == 0
    return Classifier.load(out)


@pytest.mark.parametrize(
    "method", [name for name, method in METHODS.items() if not method.is_for_tables]
)
def test_every_method_trains_from_one_command(tmp_path, method):
    card = trained(tmp_path, "--method", method).details
    assert card["test"]["metrics"]["accuracy"]["value"] > 0.5
    assert card["settings"]["head"] == METHODS[method].head


def test_a_method_for_tables_is_refused_for_images(tmp_path, capsys):
    assert main(["train", "digits", "--method", "tables", "--out", str(tmp_path / "model")]) == 2
    assert "choose another method for images" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["oko", "oko-soft"])
@pytest.mark.parametrize("k", [0, 1, 2, 3])
@pytest.mark.parametrize("head", [None, "--head", "--no-head"])
def test_any_k_with_and_without_head(tmp_path, capsys, method, k, head):
    options = ["--method", method, "--k", str(k), *([head] if head else [])]
    if k == 0 and head == "--head":
        out = str(tmp_path / "model")
        assert main(["train", "digits", "--updates", "5", "--out", out, *options]) == 2
        assert "an odd-class head needs an odd class, got k=0" in capsys.readouterr().err
        return
    settings = trained(tmp_path, *options, updates=5).details["settings"]
    by_default = method == "oko" and k == 1
    has_head = by_default if head is None else head == "--head"
    assert (settings["k"], settings["head"]) == (k, "odd" if has_head else "none")


def test_an_out_of_fold_temperature_is_on_the_card(tmp_path, capsys):
    classifier = trained(tmp_path, "--method", "bb", updates=100)
    assert classifier.temperature not in (1.0, 0.0)
    assert classifier.details["settings"]["folds"] == 2
    printed = capsys.readouterr().out
    ledger = classifier.mixture.views[0].ledger
    assert "bb, 2 networks, 50 updates" in printed
    assert (
        f"temperature {ledger.temperature:.3g}, prior adjustment {ledger.strength:.3g}" in printed
    )
    assert "probabilities are for equally" in printed
    assert trained(tmp_path, "--method", "bb", "--calibrate", "none", updates=5).temperature == 1


def test_the_winner_is_the_classifier_that_was_compared(tmp_path, capsys):
    runs = tmp_path / "runs"
    comparison = compare(
        methods=["oko", "focal"],
        seeds=2,
        learning_rates=[0.05, 0.3],
        folds=2,
        recipe={"updates": 40},
        out=runs,
    )
    best = comparison.by_method[comparison.winner]
    out = str(tmp_path / "best")
    for seed in (0, 1):
        options = ["--method", "best", "--from", str(runs), "--seed", str(seed), "--json"]
        capsys.readouterr()
        assert main(["train", "digits", "--out", out, *options]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed["method"] == comparison.winner
        assert printed["learning_rate"] == best[seed].config.learning_rate
        assert printed["temperature"] == best[seed].temperature
        for metric in ("nll", "accuracy", "ece"):
            measured = best[seed].value(metric, is_tempered=True)
            assert printed["metrics"][metric]["value"] == measured
    assert Classifier.load(out).details["data"]["examples"] == 200, "the subset that was compared"
    options = ["--method", "best", "--from", str(runs), "--train-examples", "300"]
    assert main(["train", "digits", "--out", out, *options]) == 2
    assert "as it was compared, got --train-examples; leave them out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ([], "--method best and --from RUNS must be given together"),
        (["--from", "RUNS", "--updates", "7"], "as it was compared, got --updates; leave them"),
        (["--from", "RUNS", "--folds", "0"], "as it was compared, got --folds; leave them"),
        (["--from", "RUNS", "--learning-rates", "1"], "got --learning-rates; leave them"),
        (["--from", "RUNS", "--folds", "3", "--calibrate", "none"], "got --folds, --calibrate;"),
        (["--from", "RUNS", "--no-head", "--test-size", "0.5"], "got --head, --test-size;"),
        (["--from", "RUNS", "--categorical", "a", "--test", "b.csv"], "got --test, --categorical;"),
        (["--from", "nowhere"], "there is no folder of runs nowhere"),
    ],
)
def test_best_needs_a_comparison_and_nothing_else(tmp_path, capsys, options, text):
    options = [str(tmp_path) if option == "RUNS" else option for option in options]
    command = ["train", "digits", "--method", "best", "--out", str(tmp_path / "m"), *options]
    assert main(command) == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--method", "vanilla", "--k", "1"], "vanilla draws no sets, got k=1"),
        (["--method", "vanilla", "--head"], "vanilla draws no sets, got head=True"),
        (["--folds", "0"], "needs folds, got folds=0; set folds to 5, or give one learning rate"),
        (["--learning-rates", "fast"], "--learning-rates must be numbers separated by commas"),
        (["--from", "runs"], "--method best and --from RUNS must be given together"),
        (["--method", "okko"], "method must be one of"),
        (["--crop", "1.5"], "crop must be a share"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(tmp_path, capsys, options, text):
    out = str(tmp_path / "model")
    assert main(["train", "digits", "--updates", "5", "--out", out, *options]) == 2
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [("thesis", "holds files that are not a classifier"), ("thesis/notes.txt", "is a file")],
)
def test_a_place_that_is_taken_is_refused_before_the_training(
    tmp_path, capsys, monkeypatch, name, text
):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "notes.txt").touch()
    monkeypatch.setattr("oddkout.cli.train.fit", lambda *_, **__: pytest.fail("it was trained"))
    assert main(["train", "digits", "--out", str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1


def test_the_current_folder_may_be_the_place(tmp_path, monkeypatch):
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path / "model")
    options = ["--updates", "2", "--folds", "0", "--learning-rates", "0.1"]
    assert main(["train", "digits", "--out", ".", *options]) == 0
    assert sorted(path.name for path in tmp_path.rglob("*")) == [
        "card.json", "model", "model.safetensors",
    ]  # fmt: skip


@needs_data
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_training_on_mnist_stays_below_one_and_a_half_gigabytes(tmp_path):
    program = (
        "import sys; from oddkout.cli import main; code = main(sys.argv[1:])\n"
        # Not getrusage, which remembers the process that this one was forked from.
        "[peak] = [line.split()[1] for line in open('/proc/self/status') if 'VmHWM' in line]\n"
        "print(peak, file=sys.stderr)\n"
        "sys.exit(code)"
    )
    options = ["train", "mnist", "--updates", "20", "--json", "--out", str(tmp_path / "model")]
    options += ["--folds", "0", "--learning-rates", "0.2"]
    answer = subprocess.run(
        [sys.executable, "-c", program, *options], check=True, capture_output=True, text=True
    )
    assert json.loads(answer.stdout)["metrics"]["accuracy"]["value"] > 0.2
    assert int(answer.stderr) < 1.5e6, "kilobytes"
