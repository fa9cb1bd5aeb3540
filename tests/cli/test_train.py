"""``oddkout train``: every method and option from one command, in little memory."""

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from oddkout import load_data
from oddkout.cli import main
from oddkout.comparing.compare import compare
from oddkout.comparing.config import RunConfig
from oddkout.fitting.classifier import Classifier
from oddkout.fitting.fit import fit_classifier
from oddkout.fitting.methods import METHODS
from oddkout.fitting.recipe import Recipe, suited_to

DATA = os.environ.get("ODDKOUT_DATA", "")
needs_data = pytest.mark.skipif(
    not (Path(DATA) / "mnist.npz").is_file(), reason="ODDKOUT_DATA names no folder with mnist.npz"
)


def trained(tmp_path, *options, source="digits", updates=60):
    out = tmp_path / "model"
    arguments = ["train", source, "--updates", str(updates), "--out", str(out), *options]
    assert main(arguments) == 0
    return Classifier.load(out)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_trains_from_one_command(tmp_path, method):
    card = trained(tmp_path, "--method", method).details
    assert card["test"]["metrics"]["accuracy"]["value"] > 0.5
    assert card["settings"]["head"] == METHODS[method].head


@pytest.mark.parametrize("method", ["oko", "oko-soft"])
@pytest.mark.parametrize("k", [0, 1, 2, 3])
@pytest.mark.parametrize("head", [None, "--head", "--no-head"])
def test_any_k_with_and_without_head(tmp_path, capsys, method, k, head):
    options = ["--method", method, "--k", str(k), *([head] if head else [])]
    if k == 0 and head == "--head":
        out = str(tmp_path / "model")
        assert main(["train", "digits", "--updates", "5", "--out", out, *options]) == 2
        assert "k=0 has no odd class for a head to name" in capsys.readouterr().err
        return
    settings = trained(tmp_path, *options, updates=5).details["settings"]
    by_default = method == "oko" and k == 1
    has_head = by_default if head is None else head == "--head"
    assert (settings["k"], settings["head"]) == (k, "odd" if has_head else "none")


def test_the_recipe_is_suited_to_the_number_of_examples_unless_told_otherwise(
    tmp_path, monkeypatch
):
    data = load_data("digits")
    own = Recipe(**suited_to(data.class_sizes))
    assert own.updates == 1200
    assert own.weight_decay < Recipe.weight_decay / 10
    told = trained(tmp_path, updates=3).details["settings"]
    assert {name: told[name] for name in asdict(own)} == asdict(own) | {"updates": 3}
    used = []

    def refuse(recipe, *arguments, **options):
        used.append(recipe)
        raise ValueError("this test does not train")

    monkeypatch.setattr(Recipe, "train", refuse)
    assert main(["train", "digits", "--out", str(tmp_path / "other")]) == 2
    with pytest.raises(ValueError, match="does not train"):
        fit_classifier(data)
    assert used == [own, own]


def test_an_out_of_fold_temperature_is_on_the_card(tmp_path):
    classifier = trained(tmp_path, "--folds", "2", "--method", "bb", updates=100)
    assert classifier.temperature not in (1.0, 0.0)
    assert classifier.details["settings"]["folds"] == 2


def test_the_winner_of_a_comparison_can_be_trained(tmp_path, capsys):
    runs = tmp_path / "runs"
    recipe = RunConfig(
        data="digits",
        distribution="uniform",
        train_examples=200,
        population="uniform",
        updates=40,
        folds=2,
    )
    comparison = compare(
        recipe, methods=["oko", "focal"], seeds=1, learning_rates=[0.05, 0.3], out=runs
    )
    nll = {run.config.method: run.value("nll", is_tempered=True) for run in comparison.runs}
    best = min(nll, key=nll.__getitem__)
    [won] = [run.config for run in comparison.runs if run.config.method == best]
    classifier = trained(tmp_path, "--method", "best", "--from", str(runs), updates=7)
    assert classifier.method == best
    settings = classifier.details["settings"]
    assert settings["learning_rate"] == won.learning_rate
    assert (settings["updates"], settings["folds"]) == (40, 2), "the winner's, not the command's"
    out = str(tmp_path / "other")
    assert main(["train", "digits", "--method", "best", "--out", out]) == 2
    assert "goes together with --from" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--method", "vanilla", "--k", "1"], "vanilla draws no sets, got k=1"),
        (["--method", "vanilla", "--head"], "vanilla draws no sets, got head=True"),
        (["--method", "bb+ts", "--folds", "3"], "bb+ts has a temperature of its own"),
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
    answer = subprocess.run(
        [sys.executable, "-c", program, *options], check=True, capture_output=True, text=True
    )
    assert json.loads(answer.stdout)["metrics"]["accuracy"]["value"] > 0.2
    assert int(answer.stderr) < 1.5e6, "kilobytes"
