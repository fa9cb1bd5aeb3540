"""Checkpoints: a killed run resumes bit-identically; other runs are refused."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from trainings import run, weights

from oddkout.fitting import training
from oddkout.fitting.checkpoint import run_digest

RUNNER = """
import sys, torch
from pathlib import Path
from oddkout import as_tensor, load_data
from oddkout.fitting import training
from oddkout.fitting.methods import METHODS
from oddkout.fitting.recipe import Recipe
from oddkout.models import build_model
training.LOG_EVERY, training.CHECKPOINT_EVERY = 20, 25
torch.set_num_threads(1)
data = load_data("digits")
x, y = as_tensor(data.x_train)[:300], torch.tensor(data.y_train[:300])
model = build_model("mlp", shape=(1, 8, 8), classes=10, generator=torch.Generator().manual_seed(0))
folder = Path(sys.argv[1])
recipe = Recipe(updates=500, averaging=0.9, learning_rate=0.1, examples=30, sets=64)
trained = training.train(
    model, x, y, method=METHODS["oko"], classes=10, checkpoint=folder / "checkpoint",
    progress=lambda row: print(row["update"], flush=True), **recipe.options,
)
parameters = torch.cat([p.detach().flatten() for p in trained.model.parameters()])
(folder / "result").write_text(parameters.numpy().tobytes().hex() + repr(trained.log))
"""


def test_a_run_that_is_killed_ends_as_if_it_had_not_been(tmp_path):
    def start(folder):
        folder.mkdir(exist_ok=True)
        return subprocess.Popen(
            [sys.executable, "-c", RUNNER, str(folder)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": "src"},
        )

    whole = start(tmp_path / "whole")
    whole.communicate()
    killed_at = []
    generator = random.Random(0)
    for _ in range(3):
        process = start(tmp_path / "killed")
        for _ in range(generator.randrange(2, 7)):
            line = process.stdout.readline()
        time.sleep(generator.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed_at.append(int(line))
    start(tmp_path / "killed").communicate()
    assert killed_at == sorted(killed_at), "every start went on where the last had been killed"
    results = [(tmp_path / name / "result").read_text() for name in ("whole", "killed")]
    assert results[0] == results[1]


def test_a_foreign_checkpoint_is_refused(digits, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "CHECKPOINT_EVERY", 5)
    x, y, *_ = digits
    (tmp_path / "damaged").write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="cannot be read as a checkpoint of this run"):
        run(x, y, checkpoint=tmp_path / "damaged")
    run(x, y, updates=10, checkpoint=tmp_path / "other")
    for changes in ({"updates": 8}, {"seed": 1}, {"learning_rate": 0.3}, {"method": "pair"}):
        with pytest.raises(
            ValueError, match=r"this run \(other data, arguments or version\); delete it"
        ):
            run(x, y, checkpoint=tmp_path / "other", **{"updates": 10} | changes)
    with pytest.raises(ValueError, match="other data, arguments or version"):
        run(x + 1, y, updates=10, checkpoint=tmp_path / "other")
    with pytest.raises(ValueError, match="other data, arguments or version"):
        run(torch.zeros(200, 1, 9, 9), y, updates=10, checkpoint=tmp_path / "other")


def test_groups_and_the_version_are_part_of_a_run(digits, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "CHECKPOINT_EVERY", 5)
    x, y, *_ = digits
    groups = torch.arange(len(y)) // 2
    run(x, y, updates=10, groups=groups, checkpoint=tmp_path / "state")
    with pytest.raises(ValueError, match="other data, arguments or version"):
        run(x, y, updates=10, groups=groups.flip(0), checkpoint=tmp_path / "state")
    monkeypatch.setattr("oddkout.fitting.checkpoint.__version__", "0.0.1")
    with pytest.raises(ValueError, match="other data, arguments or version"):
        run(x, y, updates=10, groups=groups, checkpoint=tmp_path / "state")


@pytest.mark.parametrize("update", ["0", "-5", "11", "x", "1e3"])
def test_update_counts_out_of_range_are_refused(digits, tmp_path, update):
    x, y, *_ = digits
    path = tmp_path / "state"
    run(x, y, updates=10, checkpoint=path)
    with safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    save_file(load_file(path), path, metadata=metadata | {"update": update})
    with pytest.raises(ValueError, match="cannot be read as a checkpoint of this run"):
        run(x, y, updates=10, checkpoint=path)


def test_a_finished_run_resumes_at_its_end(digits, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "CHECKPOINT_EVERY", 5)
    x, y, *_ = digits
    first = run(x, y, updates=10, checkpoint=tmp_path / "state")
    again = run(x, y, updates=10, checkpoint=tmp_path / "state")
    assert torch.equal(weights(first), weights(again))
    assert first.log == again.log


def test_a_digest_sees_every_argument_and_the_shape():
    x, y = torch.zeros(4, 6), torch.arange(4)
    digests = {
        run_digest(x, y, seed=0),
        run_digest(x, y, seed=1),
        run_digest(x, y, seed=0, head=None),
        run_digest(x.view(4, 2, 3), y, seed=0),
        run_digest(x, y.flip(0), seed=0),
    }
    assert len(digests) == 5
    assert run_digest(x.clone(), y, head=1, seed=0) == run_digest(x, y, seed=0, head=1)
