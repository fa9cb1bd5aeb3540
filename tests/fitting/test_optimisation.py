"""The optimiser, its learning rate schedule, and the weight schedule of a second head."""

import math

import pytest
import torch
from torch import nn
from trainings import run

from oddkout.fitting import training
from oddkout.fitting.budget import Budget
from oddkout.fitting.methods import METHODS
from oddkout.fitting.optimisation import HeadSchedule, Optimiser
from oddkout.fitting.training import train


def test_the_learning_rate_rises_and_falls(digits, monkeypatch):
    x, y, *_ = digits
    monkeypatch.setattr(training, "LOG_EVERY", 1)
    options = {"updates": 100, "warm_up": 0.1, "schedule": "cosine"}
    rates = [row["learning_rate"] for row in run(x, y, **options).log]
    assert rates.index(max(rates)) == 10
    assert max(rates) == pytest.approx(0.1)
    expected = 0.05 * (1 + math.cos(math.pi * 45 / 90))
    assert rates[55] == pytest.approx(expected)
    assert rates[-1] < 1e-4


def test_a_constant_learning_rate_rises_and_stays(digits, monkeypatch):
    x, y, *_ = digits
    monkeypatch.setattr(training, "LOG_EVERY", 1)
    rates = [row["learning_rate"] for row in run(x, y, updates=40, warm_up=0.1).log]
    assert rates[:5] == sorted(rates[:5])
    assert set(rates[4:]) == {0.1}


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


@pytest.mark.parametrize("warm_up", [0.0, 0.1, 0.5])
def test_the_rate_rises_on_a_line_and_falls_on_a_cosine(warm_up):
    optimiser = Optimiser(learning_rate=0.4, warm_up=warm_up)
    assert optimiser.rate(warm_up) == pytest.approx(0.4)
    assert optimiser.rate(1.0) == pytest.approx(0.0)
    assert optimiser.rate((1 + warm_up) / 2) == pytest.approx(0.2), "half of the cosine"
    if warm_up:
        halfway = 0.4 * (warm_up / 2 + 1e-3) / (warm_up + 1e-3)
        assert optimiser.rate(warm_up / 2) == pytest.approx(halfway)


def test_the_weight_of_a_second_head_falls_by_a_cosine_to_0():
    schedule = HeadSchedule(weight=3.0, until=0.6)
    assert [schedule.at(done) for done in (0.0, 0.3, 0.6, 1.0)] == pytest.approx([3, 1.5, 0, 0])
    assert schedule.at(0.2) == pytest.approx(3 * (1 + math.cos(math.pi / 3)) / 2)
    constant = HeadSchedule(weight=3.0, until=0)
    assert constant.at(0.0) == constant.at(0.9) == 3


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"clip_norm": 1.0}, [0.6, 0.8]),
        ({"clip_norm": None}, [3.0, 4.0]),
        ({"clip_norm": None, "clip_value": 3.5}, [3.0, 3.5]),
        ({"clip_norm": 10.0}, [3.0, 4.0]),
    ],
)
def test_gradients_are_clipped_by_norm_or_by_value(options, expected):
    model = nn.Linear(2, 1, bias=False)
    model.weight.grad = torch.tensor([[3.0, 4.0]])
    assert Optimiser(**options).clip(model).item() == pytest.approx(5.0), "the norm before"
    assert model.weight.grad[0].tolist() == pytest.approx(expected, rel=1e-4)
