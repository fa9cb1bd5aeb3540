"""Training: every method learns, to the bit the same, also when it is killed on the way."""

import math
import os
import random
import signal
import subprocess
import sys
import time

import pytest
import torch
from torch import nn

from oddkout import as_tensor, load_data, subset
from oddkout.fitting import training
from oddkout.fitting.methods import METHODS
from oddkout.fitting.objective import Budget
from oddkout.fitting.optimisation import Optimiser
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.training import predict_logits, train
from oddkout.models import build_model


@pytest.fixture(scope="module")
def digits():
    data = load_data("digits")
    few = subset(data.y_train, examples=200, distribution="heavy-tailed", seed=0)
    x, y = as_tensor(data.x_train)[few], torch.tensor(data.y_train[few])
    return x, y, as_tensor(data.x_test), torch.tensor(data.y_test)


def run(x, y, *, method="oko", name="mlp", seed=0, dropout=0.0, checkpoint=None, **changes):
    generator = torch.Generator().manual_seed(seed)
    shape = tuple(x.shape[1:])
    model = build_model(name, shape=shape, classes=10, generator=generator, dropout=dropout)
    recipe = Recipe(**{"updates": 120, "examples": 30, "sets": 64, "learning_rate": 0.1} | changes)
    return train(
        model,
        x,
        y,
        method=METHODS[method],
        classes=10,
        seed=seed,
        checkpoint=checkpoint,
        **recipe.options,
    )


def weights(trained):
    return torch.cat([parameter.detach().flatten() for parameter in trained.model.parameters()])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns(digits, method):
    x, y, x_test, y_test = digits
    trained = run(x, y, method=method, updates=200)
    accuracy = (predict_logits(trained.model, x_test).argmax(dim=1) == y_test).double().mean()
    assert accuracy > 0.6, "chance is 0.1"
    assert not trained.model.training
    assert set(trained.model.state_dict()) == set(
        build_model("mlp", shape=(1, 8, 8), classes=10, generator=torch.Generator()).state_dict()
    ), "no second head is left"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"method": "vanilla", "optimiser": "adamw", "learning_rate": 1e-3},
        {"averaging": 0.9},
        {"layout": "paper", "sets": 20},
        {"clip_value": 0.1, "clip_norm": None, "weight_decay": 1e-3},
        {"dropout": 0.5},
        {"shift": 1, "flip": True, "crop": 0.2},
        {"mixed_precision": True},
    ],
)
def test_the_same_arguments_give_the_same_weights_to_the_bit(digits, changes):
    x, y, *_ = digits
    first, again = (run(x, y, updates=40, **changes) for _ in range(2))
    assert torch.equal(weights(first), weights(again))
    assert first.log == again.log
    other = run(x, y, updates=40, **changes | {"seed": 1})
    assert not torch.equal(weights(first), weights(other))


def test_global_randomness_is_neither_used_nor_touched(digits):
    x, y, *_ = digits
    torch.manual_seed(1)
    first = run(x, y, updates=20, dropout=0.5)
    torch.manual_seed(2)
    before = torch.random.get_rng_state()
    again = run(x, y, updates=20, dropout=0.5)
    assert torch.equal(weights(first), weights(again))
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("changes", [{"dropout": 0.5}, {"shift": 1}, {"flip": True}, {"crop": 0.3}])
def test_an_option_that_makes_training_harder_makes_a_difference(digits, changes):
    x, y, *_ = digits
    plain, harder = run(x, y, updates=60), run(x, y, updates=60, **changes)
    assert not torch.equal(weights(plain), weights(harder))
    assert harder.log[-1]["loss"] > plain.log[-1]["loss"]


def test_mixed_precision_keeps_weights_in_float32_and_stays_near(digits):
    x, y, x_test, y_test = digits
    mixed = run(x, y, updates=150, mixed_precision=True)
    assert {parameter.dtype for parameter in mixed.model.parameters()} == {torch.float32}
    plain = run(x, y, updates=150, mixed_precision=False)
    assert not torch.equal(weights(mixed), weights(plain))
    right = [predict_logits(t.model, x_test).argmax(dim=1) == y_test for t in (mixed, plain)]
    assert abs(right[0].double().mean() - right[1].double().mean()) < 0.05


COMPILED = """
import torch
from oddkout.fitting.methods import METHODS
from oddkout.fitting.objective import Budget
from oddkout.fitting.training import train
from oddkout.models import build_model
x = torch.randn(60, 20, generator=torch.Generator().manual_seed(0))
y = torch.arange(60) % 3
def weights(compiled):
    generator = torch.Generator().manual_seed(0)
    model = build_model("mlp", shape=(20,), classes=3, generator=generator, dropout=0.2)
    budget = Budget(updates=30, examples=30, sets=64)
    train(model, x, y, method=METHODS["oko"], classes=3, budget=budget, compiled=compiled)
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
first, again, plain = (weights(compiled) for compiled in (True, True, False))
print(torch.equal(first, again), torch.equal(first, plain), (first - plain).abs().max().item())
"""


def test_a_compiled_run_is_the_same_to_the_bit_again():
    """In a process of its own: the checking of shapes in tests cannot be compiled."""
    answer = subprocess.run(
        [sys.executable, "-c", COMPILED], check=True, capture_output=True, text=True
    )
    is_same_again, is_same_as_plain, _ = answer.stdout.split()
    assert is_same_again == "True"
    assert is_same_as_plain == "False", "compiled code rounds, and drops, differently"


def test_augmentation_of_a_table_is_refused(digits):
    _, y, *_ = digits
    with pytest.raises(ValueError, match="shift, flip and crop are for images"):
        run(torch.zeros(len(y), 5), y, shift=1)


def test_the_learning_rate_rises_and_falls(digits, monkeypatch):
    x, y, *_ = digits
    monkeypatch.setattr(training, "LOG_EVERY", 1)
    rates = [row["learning_rate"] for row in run(x, y, updates=100, warm_up=0.1).log]
    assert rates.index(max(rates)) == 10
    assert max(rates) == pytest.approx(0.1)
    expected = 0.05 * (1 + math.cos(math.pi * 45 / 90))
    assert rates[55] == pytest.approx(expected)
    assert rates[-1] < 1e-4


def test_biases_do_not_decay():
    x, y = torch.zeros(20, 4), torch.arange(20) % 2
    model = nn.Linear(4, 2)
    with torch.no_grad():
        model.weight.fill_(1.0)
        model.bias.copy_(torch.tensor([3.0, 3.0]))
    train(
        model,
        x,
        y,
        method=METHODS["bb"],
        classes=2,
        budget=Budget(updates=50, examples=20, sets=1),
        optimiser=Optimiser(learning_rate=0.1, weight_decay=0.5),
    )
    assert model.weight.abs().max() < 0.5, "no gradient, only decay"
    assert model.bias.sum().item() == pytest.approx(6.0), "cross-entropy leaves the sum alone"


def test_an_average_of_weights_lags_behind(digits):
    x, y, *_ = digits
    plain, averaged = run(x, y, updates=60), run(x, y, updates=60, averaging=0.99)
    start = run(x, y, updates=1, learning_rate=1e-12)
    far, near = ((weights(t) - weights(start)).norm() for t in (plain, averaged))
    assert near < far


@pytest.mark.parametrize(
    ("method", "changes", "text"),
    [
        (
            "vanilla",
            {"learning_rate": 1e30, "clip_norm": None},
            r"stopped at update \d+ of 120.*low",
        ),
        ("oko", {"learning_rate": 1e30, "clip_norm": None}, "not? finite|must be finite"),
        ("vanilla", {"updates": 0}, "updates must be at least 1"),
    ],
)
def test_a_run_that_goes_astray_is_stopped(digits, method, changes, text):
    x, y, *_ = digits
    with pytest.raises(ValueError, match=text):
        run(x, y, method=method, **changes)


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
    with pytest.raises(ValueError, match="is no checkpoint of this run"):
        run(x, y, checkpoint=tmp_path / "damaged")
    run(x, y, updates=10, checkpoint=tmp_path / "other")
    with pytest.raises(ValueError, match=r"is no checkpoint of this run.*train with the arguments"):
        run(torch.zeros(200, 1, 9, 9), y, checkpoint=tmp_path / "other")
