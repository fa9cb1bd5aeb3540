"""The optimiser, its learning rate over time, and the weight of a second head."""

import math

import pytest
import torch
from torch import nn
from trainings import run

from oddkout.fitting import training
from oddkout.fitting.methods import METHODS
from oddkout.fitting.objective import Budget
from oddkout.fitting.optimisation import Optimiser
from oddkout.fitting.training import train


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
