"""The bound on the odd-class head, by hand and by unconstrained minimisation."""

import math

import pytest
import torch

from oddkout import OddKOutLoss
from oddkout.paper.theory.algorithm import class_sets, every_set
from oddkout.paper.theory.lbfgs import minimise
from oddkout.paper.theory.odd_head import best_logits, bound, least_odd_risk, odd_losses, odd_risk


@pytest.mark.parametrize(("classes", "k"), [(3, 1), (10, 1), (6, 2), (10, 4)])
def test_the_bound_is_reached_by_the_best_logits(classes, k):
    assert float(odd_risk(best_logits(classes, k), k)) == pytest.approx(
        bound(classes, k), abs=1e-14
    )


def test_three_classes_by_hand():
    """At C = 3 the best logits are all equal: the head can only guess, log 3."""
    assert bound(3) == pytest.approx(math.log(3))
    assert best_logits(3).abs().max() == 0


def test_the_odd_risk_is_what_the_criterion_adds():
    logits = torch.randn(4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    sets, labels = class_sets(4, 2), torch.arange(4)
    criterion = OddKOutLoss(k=2)
    with_head = criterion(torch.zeros_like(logits), labels, odd_logits=logits, sets=sets)
    assert float(with_head) - math.log(4) == pytest.approx(float(odd_risk(logits, 2)), abs=1e-12)


def test_the_bound_holds_without_memorisation():
    """Any logits per example: the best that L-BFGS finds on uneven data is the bound again."""
    labels = [0, 0, 0, 1, 1, 2, 2, 3, 3, 3]
    y, (sets, chance) = torch.tensor(labels), every_set(labels, 1)
    for seed in range(3):
        generator = torch.Generator().manual_seed(seed)
        logits = 2 * torch.randn(len(labels), 4, generator=generator, dtype=torch.float64)
        assert float(chance @ odd_losses(logits, y, sets)) > bound(4)
        minimise(lambda logits=logits: chance @ odd_losses(logits, y, sets), [logits], steps=300)
        lowest = float(chance @ odd_losses(logits, y, sets))
        assert bound(4) - 1e-12 < lowest < bound(4) + 1e-8


def test_two_classes_have_no_bound():
    """With C = 2 the head names the other class: the loss falls towards 0."""
    assert least_odd_risk(2, seed=0) < 1e-6
