"""Compilation: decided by counted operations, never by a clock."""

import shutil
import subprocess
import sys

import pytest
import torch
from torch import nn

from oddkout.fitting import compilation
from oddkout.fitting.compilation import repays_compiling, training_operations
from oddkout.models import build_model


def test_the_work_of_the_cnn_is_that_of_its_layers():
    model = build_model("cnn", shape=(1, 28, 28), classes=10, generator=torch.Generator())
    multiplications = (
        28 * 28 * 9 * 1 * 32
        + 14 * 14 * 9 * 32 * 64
        + 7 * 7 * 9 * 64 * 128
        + 128 * 9 * 128
        + 128 * 10
    )
    assert training_operations(model, torch.zeros(5, 1, 28, 28)) == 3 * 2 * multiplications


def test_counting_leaves_batch_statistics_alone():
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Dropout(0.5))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    training_operations(model.train(), torch.rand(3, 1, 8, 8))
    assert model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


@pytest.mark.parametrize(("updates", "expected"), [(999, False), (1000, True)])
def test_long_runs_are_compiled_and_short_ones_are_not(monkeypatch, updates, expected):
    model = nn.Linear(10, 10)  # 600 operations an example in training
    monkeypatch.setattr(compilation, "_REPAYS_FROM", {"cpu": 600 * 30 * 1000})
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/c++")
    answer = repays_compiling(model, torch.zeros(3, 10), examples=30, updates=updates)
    assert answer is expected


def test_a_machine_without_a_compiler_is_not_asked_to_compile(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert not repays_compiling(
        nn.Linear(10, 10), torch.zeros(1, 10), examples=10**6, updates=10**9
    )


COMPILED = """
import torch
from oddkout.fitting.methods import METHODS
from oddkout.fitting.budget import Budget
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
    """In a separate process, because the shape checks of the tests cannot be compiled."""
    answer = subprocess.run(
        [sys.executable, "-c", COMPILED], check=True, capture_output=True, text=True
    )
    is_same_again, is_same_as_plain, _ = answer.stdout.split()
    assert is_same_again == "True"
    assert is_same_as_plain == "False", "compiled code rounds, and drops, differently"
