"""Distributed training: real processes under torchrun, with gloo."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
from gloo import ENDING

from oddkout import with_odd_head
from oddkout.fitting.budget import Budget
from oddkout.fitting.classifier import Classifier
from oddkout.fitting.methods import METHODS
from oddkout.fitting.objective import Objective
from oddkout.models import build_model, initialise
from oddkout.randomness import keyed_generator

STEP = """
import json, sys, torch
from pathlib import Path
from oddkout.fitting.methods import METHODS
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.training import train
from oddkout.models import build_model
torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
if sys.argv[2] == "fail" and rank == 1:
    raise RuntimeError("this rank fails")
x = torch.randn(60, 4, generator=torch.Generator().manual_seed(0))
y = torch.arange(60) % 3
model = build_model("mlp", shape=(4,), classes=3, generator=torch.Generator().manual_seed(1))
recipe = Recipe(updates=int(sys.argv[3]), examples=12, sets=8, learning_rate=0.1, momentum=0.0,
    warm_up=0.0, clip_norm=None, head_until=0.0, weight_decay=0.0)
trained = train(model, x, y, method=METHODS[sys.argv[2]] if sys.argv[2] in METHODS else
    METHODS["vanilla"], classes=3, seed=5, **recipe.options)
weights = torch.cat([p.detach().flatten() for p in trained.model.parameters()])
(Path(sys.argv[1]) / f"{rank}.json").write_text(json.dumps(weights.tolist()))
"""


# What a wrapped model leaves behind when it is not collected: a group whose threads go on.
LEFT = """
import gc, sys, torch
from pathlib import Path
from oddkout.cli.ranks import processes
gc.disable()
with processes():
    rank = torch.distributed.get_rank()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
    model(torch.zeros(1, 2)).sum().backward()
    del model
left = [kind for kind in map(type, gc.get_objects()) if "DistributedDataParallel" in kind.__name__]
Path(sys.argv[1], str(rank)).write_text(str(len(left)))
"""


# One process is killed while the other waits for it.
CUT = """
import os, signal, sys, torch
from oddkout.cli.ranks import processes
try:
    with processes():
        torch.distributed.barrier()
        if torch.distributed.get_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        torch.distributed.all_reduce(torch.ones(1))
except OSError as error:
    print(f"oddkout: {error}", file=sys.stderr, flush=True)
    os._exit(2)
"""


BUDGET = Budget(updates=1, examples=12, sets=8)


def torchrun(*command, timeout=100):
    environment = os.environ | {"PYTHONPATH": "src", "OMP_NUM_THREADS": "1"}
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return subprocess.run(
        [*launcher, "--nproc-per-node", "2", *command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "step.py"
    path.write_text(STEP + ENDING)
    return str(path)


@pytest.mark.parametrize("method", ["oko", "vanilla"])
def test_one_step_is_that_of_one_process_on_the_union(tmp_path, script, method):
    done = torchrun(script, str(tmp_path), method, "1")
    assert done.returncode == 0, done.stderr
    weights = [torch.tensor(json.loads((tmp_path / f"{r}.json").read_text())) for r in (0, 1)]
    assert torch.equal(weights[0], weights[1]), "all end with the same weights"

    x = torch.randn(60, 4, generator=torch.Generator().manual_seed(0))
    y = torch.arange(60) % 3
    model = build_model("mlp", shape=(4,), classes=3, generator=torch.Generator().manual_seed(1))
    has_head = METHODS[method].head == "odd"
    whole = with_odd_head(model) if has_head else model
    if has_head:
        initialise(whole.odd_head, keyed_generator(5, 4))
    losses, batches = [], []
    for rank in (0, 1):
        drawn = Objective(
            METHODS[method], y, classes=3, budget=BUDGET, seed=5, rank=rank, processes=2
        )
        batch, sets = drawn.draw(0)
        batches.append(batch)
        losses.append(drawn.loss(whole(x[batch]), y[batch], sets, update=0, head_weight=2.0))
    assert not torch.equal(batches[0].sort().values, batches[1].sort().values)
    parameters = list(model.parameters())
    gradients = torch.autograd.grad(sum(losses) / 2, parameters)
    expected = [(p - 0.1 * g).flatten() for p, g in zip(parameters, gradients, strict=True)]
    torch.testing.assert_close(weights[0], torch.cat(expected).detach(), rtol=1e-5, atol=1e-7)


def test_processes_share_a_shuffled_epoch():
    labels = torch.arange(48) % 3
    both = [
        Objective(METHODS["vanilla"], labels, classes=3, budget=BUDGET, rank=rank, processes=2)
        for rank in (0, 1)
    ]
    seen = torch.cat([drawn.draw(update)[0] for update in (0, 1) for drawn in both])
    assert sorted(seen.tolist()) == list(range(48))


def test_no_process_waits_for_one_that_failed(tmp_path, script):
    start = time.monotonic()
    done = torchrun(script, str(tmp_path), "fail", "50")
    assert done.returncode != 0
    assert "this rank fails" in done.stderr
    assert time.monotonic() - start < 90


def test_a_process_whose_partner_is_killed_ends_and_says_what_to_do(tmp_path):
    (tmp_path / "cut.py").write_text(CUT)
    done = torchrun(str(tmp_path / "cut.py"), timeout=60)
    assert done.returncode != 0
    (said,) = {line for line in done.stderr.splitlines() if line.startswith("oddkout: ")}
    assert "run the same command again to resume from the last checkpoint" in said


def test_the_command_trains_with_two_processes(tmp_path):
    out = tmp_path / "model"
    done = torchrun(
        "-m", "oddkout", "train", "digits", "--out", str(out), "--updates", "60", "--folds", "2",
        "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["model"] == str(out), "one process speaks for all"
    probs = Classifier.load(out).predict_proba(np.zeros((1, 8, 8), np.uint8))
    assert probs.shape == (1, 10)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]


def test_nothing_holds_the_group_when_the_command_ends(tmp_path):
    (tmp_path / "left.py").write_text(LEFT)
    done = torchrun(str(tmp_path / "left.py"), str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert [(tmp_path / rank).read_text() for rank in "01"] == ["0", "0"]
