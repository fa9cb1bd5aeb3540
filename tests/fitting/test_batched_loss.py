"""Gradients of the losses of several networks, against autograd."""

import pytest
import torch

from oddkout.fitting.batched_loss import BatchedLoss
from oddkout.fitting.budget import Budget
from oddkout.fitting.methods import METHODS
from oddkout.fitting.objective import Objective


def source(seed=0):
    return torch.Generator().manual_seed(seed)


def by_autograd(loss, logits):
    logits = logits.clone().requires_grad_()
    torch.autograd.backward(loss(logits))
    return logits.grad


@pytest.mark.parametrize(
    "name", ["vanilla", "vanilla+ls", "vanilla+la", "weighted", "focal", "oko"]
)
def test_every_network_has_the_gradient_of_its_own_mean_loss(name):
    labels = torch.tensor([0, 0, 1, 1, 2, 2] * 4)
    budget = Budget(updates=5, examples=6, sets=10)
    objectives = [
        Objective(METHODS[name], labels[own:], classes=3, budget=budget, seed=own) for own in (0, 2)
    ]
    drawn = [objective.draw(0) for objective in objectives]
    each = torch.stack([labels[own:][rows] for own, (rows, _) in zip((0, 2), drawn, strict=True)])
    logits = torch.randn(*each.shape, 3, generator=source())
    second = None
    if METHODS[name].head != "none":
        second = torch.randn(*each.shape, 3, generator=source(1))
    sets = None
    if drawn[0][1] is not None:
        sets = torch.cat([own + number * each.shape[1] for number, (_, own) in enumerate(drawn)])
    together = BatchedLoss(objectives, classes=3, seed=0)
    slopes = together.slopes((logits, second), each, sets, update=0, head_weight=0.5)
    for number, (objective, (_, own_sets)) in enumerate(zip(objectives, drawn, strict=True)):

        def loss(own, number=number, objective=objective, own_sets=own_sets):
            output = own if second is None else (own, second[number])
            return objective.loss(output, each[number], own_sets, update=0, head_weight=0.5)

        expected = by_autograd(loss, logits[number])
        torch.testing.assert_close(slopes[0][number], expected, rtol=1e-5, atol=1e-7)
