"""Batch-balancing against re-weighting, by hand and by sampling."""

from fractions import Fraction

import torch

from oddkout import class_weights, weighted_cross_entropy
from oddkout.paper.theory.balancing import (
    balanced,
    gradient_variances,
    reweighted,
    untrained_gradients,
)


def test_one_example_batches_are_weighted_by_hand():
    """Two examples of class 0 and one of class 1: weights 3/2 and 3, classes equally likely."""
    losses = [Fraction(1), Fraction(3), Fraction(7)]
    assert balanced([0, 0, 1], losses, 1) == Fraction(1 + 3, 4) + Fraction(7, 2)
    by_hand = (Fraction(3, 2) * (1 + 3) + 3 * 7) / 3
    assert reweighted([0, 0, 1], losses, 1) == by_hand == 2 * balanced([0, 0, 1], losses, 1)


def test_batches_of_two_have_the_expectation_of_one():
    losses = [Fraction(1), Fraction(3), Fraction(7)]
    for expected in (balanced, reweighted):
        assert expected([0, 0, 1], losses, 2) == expected([0, 0, 1], losses, 1)


def test_the_own_frequencies_of_a_batch_of_one_give_no_weights():
    losses = [Fraction(1), Fraction(3), Fraction(7)]
    assert reweighted([0, 0, 1], losses, 1, is_literal=True) == Fraction(11, 3)


def test_variances_of_the_two_gradients_are_those_of_draws():
    gradients, labels = untrained_gradients((6, 3, 2))
    variances = gradient_variances(gradients, labels)
    weights = class_weights(labels, classes=3).double()[labels]
    generator = torch.Generator().manual_seed(0)
    uniform = torch.randint(len(labels), (40_000,), generator=generator)
    by_class = torch.multinomial(1 / labels.bincount()[labels], 40_000, True, generator=generator)
    for drawn, expected in (
        ((weights[:, None] * gradients)[uniform], variances.reweighted),
        (gradients[by_class], variances.balanced),
    ):
        squares = ((drawn - drawn.mean(dim=0)) ** 2).sum(dim=1)
        assert abs(float(squares.mean()) - expected) < 4 * float(squares.std()) / 200


def test_untrained_gradients_are_those_of_cross_entropy():
    """By the weighted loss of the library: equal weights, a linear model at 0."""
    gradients, labels = untrained_gradients((4, 2), features=3)
    # At 0 the error of class 0 is 1/2 - [y = 0], so the features can be read off the gradient.
    x = gradients.view(6, 2, 3)[:, 0] / torch.where(labels == 0, -0.5, 0.5)[:, None]
    weights = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    loss = weighted_cross_entropy(x @ weights.T, labels, weight=torch.ones(2))
    (expected,) = torch.autograd.grad(loss, weights)
    torch.testing.assert_close(gradients.mean(dim=0), expected.flatten())
