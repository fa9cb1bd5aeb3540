"""The theory of losses and calibration is compared with closed forms and other ways of counting."""

import math
from fractions import Fraction

import pytest
import torch
from scipy.special import erf

from oddkout import OddKOutLoss, class_weights, weighted_cross_entropy
from oddkout.paper.theory.algorithm import class_sets, every_set
from oddkout.paper.theory.balancing import (
    balanced,
    gradient_variances,
    reweighted,
    untrained_gradients,
)
from oddkout.paper.theory.excess_confidence import (
    least_relative_cross_entropy,
    log_coefficients,
    prediction,
    relative_cross_entropy,
)
from oddkout.paper.theory.lbfgs import minimise
from oddkout.paper.theory.odd_head import best_logits, bound, least_odd_risk, odd_losses, odd_risk
from oddkout.paper.theory.shift import grounded, weighted_sum
from oddkout.paper.theory.two_points import lipschitz_error, smooth_ece, smoothed_ece

# Batch-balancing


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


def test_a_batch_of_one_is_not_weighted_at_all_by_its_own_frequencies():
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


# Relative cross-entropy


def test_relative_cross_entropy_by_hand():
    log_probs = torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64).log()
    entropy = 1.5 * math.log(2)
    expected = [math.log(2) - entropy, 2 * math.log(2) - entropy, 2 * math.log(2) - entropy]
    assert relative_cross_entropy(log_probs).tolist() == pytest.approx(expected, abs=1e-15)


def test_predictions_of_the_search_are_distributions_below_their_cap():
    generator = torch.Generator().manual_seed(0)
    share = 5 * torch.randn(50, generator=generator, dtype=torch.float64)
    rest = 5 * torch.randn(50, 4, generator=generator, dtype=torch.float64)
    probs = prediction(share, rest, cap=0.2).exp()
    torch.testing.assert_close(probs.sum(dim=1), torch.ones(50).double())
    assert (probs[:, 0] <= 0.2).all()


def test_the_search_finds_the_least_relative_cross_entropy_of_two_classes():
    """With C = 2, RC = (1 - q) log((1 - q) / q), least over q <= 0.9: checked on a grid."""
    q = torch.linspace(0.01, 0.9, 20_000, dtype=torch.float64)
    least = float(((1 - q) * ((1 - q) / q).log()).min())
    assert least_relative_cross_entropy(2, cap=0.9) == pytest.approx(least, abs=1e-6)


def test_mean_relative_cross_entropy_weighs_logs_by_the_calibration_gap():
    q = [Fraction(1, 2), Fraction(1, 2)]
    assert log_coefficients(q, [[Fraction(1), Fraction(0)]]) == [Fraction(-1, 2), Fraction(1, 2)]
    assert log_coefficients(q, [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]) == [0, 0]


# Shift invariance


def test_grounded_vectors_begin_with_0_and_keep_their_differences():
    (vector,) = grounded([[Fraction(3), Fraction(5), Fraction(-1)]])
    assert vector == [0, 2, -4]
    vectors = [[Fraction(1), Fraction(2)], [Fraction(3), Fraction(5)]]
    assert weighted_sum([Fraction(2), Fraction(-1)], vectors) == [-1, -1]


# Two points


@pytest.mark.parametrize("bandwidth", [0.02, 0.05])
@pytest.mark.parametrize("delta", [0.01, 0.1])
def test_the_smoothed_error_has_a_closed_form_far_from_the_ends(delta, bandwidth):
    """Two Gaussians of opposite sign, 2 delta apart: (1/2 - delta) (2 Phi(delta / s) - 1)."""
    expected = (0.5 - delta) * erf(delta / bandwidth / math.sqrt(2))
    assert smoothed_ece(delta, bandwidth) == pytest.approx(expected, abs=1e-6)


def test_smooth_ece_is_its_own_bandwidth():
    for delta in (0.01, 0.2):
        found = smooth_ece(delta)
        assert smoothed_ece(delta, found) == pytest.approx(found, abs=1e-8)
    assert smooth_ece(0.0) == 0


def test_the_lipschitz_error_by_a_grid_of_weights():
    delta = 0.1
    w = torch.linspace(-1, 1, 401, dtype=torch.float64)
    first, second = torch.meshgrid(w, w, indexing="ij")
    gain = (second - first) * (0.5 - delta) / 2
    allowed = (second - first).abs() <= 2 * delta + 1e-12
    assert lipschitz_error(delta) == pytest.approx(float(gain[allowed].max()), abs=1e-9)


# The odd-class head


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
        found = float(chance @ odd_losses(logits, y, sets))
        assert bound(4) - 1e-12 < found < bound(4) + 1e-8


def test_two_classes_have_no_bound():
    """With C = 2 the head names the other class: the loss falls towards 0."""
    assert least_odd_risk(2, seed=0) < 1e-6
