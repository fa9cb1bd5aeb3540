"""Gradients of sets in a pool, by autograd and simulation."""

import math

import pytest
import torch

from oddkout import ClassIndex, OddKOutLoss
from oddkout.paper.theory.pools import layout_variances, set_gradients


def test_gradients_of_sets_equal_autograd():
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(6, 4, generator=generator, dtype=torch.float64)
    weights = torch.randn(3, 4, generator=generator, dtype=torch.float64)
    labels, sets = torch.tensor([0, 0, 1, 1, 2, 2]), torch.tensor([[0, 1, 2], [4, 5, 3]])

    def losses(weights):
        return OddKOutLoss(k=1, reduction="none")(x @ weights.T, labels, sets=sets)

    expected = torch.autograd.functional.jacobian(losses, weights).flatten(1)
    torch.testing.assert_close(set_gradients(x, labels, sets, weights), expected)


def test_the_variance_of_a_pool_is_that_of_simulated_updates():
    """Draw 800 pools with 8 sets each by the library, and look at the spread of the gradient."""
    classes, per_class, drawn, updates = 3, 3, 8, 800
    variances = layout_variances(classes=classes, per_class=per_class, pools=150)
    generator = torch.Generator().manual_seed(0)  # the data and model of ``layout_variances``
    labels = torch.arange(12 * classes) % classes
    centres = torch.randn(classes, 8, generator=generator, dtype=torch.float64)
    x = centres[labels] + torch.randn(len(labels), 8, generator=generator, dtype=torch.float64)
    weights = 0.1 * torch.randn(classes, 8, generator=generator, dtype=torch.float64)
    index, gradients = ClassIndex(labels), []
    for _ in range(updates):
        pool = index.draw_balanced(per_class=per_class, generator=generator)
        sets = ClassIndex(labels[pool]).draw_sets(k=1, sets=drawn, generator=generator)
        gradients.append(set_gradients(x[pool], labels[pool], sets, weights).mean(dim=0))
    stacked = torch.stack(gradients)
    squares = ((stacked - stacked.mean(dim=0)) ** 2).sum(dim=1)
    error = float(squares.std()) / math.sqrt(updates) + variances.pool_error(drawn)
    assert abs(float(squares.mean()) - variances.pool(drawn)) < 4 * error
    independent = variances.one_set / (variances.cost / 3)
    assert variances.paper == pytest.approx(independent)
    assert variances.pool(variances.break_even) == pytest.approx(variances.paper)
