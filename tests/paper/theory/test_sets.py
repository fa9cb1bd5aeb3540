"""The theory of sets and risks is compared with closed forms, autograd and sampling."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
import torch
from scipy.optimize import brentq
from scipy.special import expit

from oddkout import ClassIndex, OddKOutLoss
from oddkout.paper.theory import low_data, low_data_terms
from oddkout.paper.theory.algorithm import class_sets, set_probabilities
from oddkout.paper.theory.divergence import descent, margin_growth, slopes, symmetric, toy_path
from oddkout.paper.theory.pools import layout_variances, set_gradients
from oddkout.paper.theory.risk_minima import (
    first_derivative,
    minimum,
    second_derivative,
    slice_terms,
)
from oddkout.paper.theory.risks import constant, printed_risk, risk


def random_matrix(classes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(classes, classes, generator=generator, dtype=torch.float64)


# Theorem 1


@pytest.mark.parametrize("epsilon", low_data.EPSILONS)
def test_the_minimiser_solves_the_stationarity_equation(epsilon):
    """With a = (0, -t, t) by symmetry, the derivative in t is this, worked out on paper."""

    def slope(t):
        common, rare = 1 - epsilon, epsilon
        mixed = common**2 * (3 * expit(t) - 2)
        return mixed - 2 * rare * common * expit(-2 * t) - rare**2 * expit(-t)

    t = brentq(slope, 0, 5, xtol=1e-15)
    a = low_data.minimiser(epsilon)
    assert a.tolist() == pytest.approx([0, -t, t], abs=1e-12)


def test_derivatives_of_the_expected_loss_equal_autograd():
    a = torch.tensor([0.3, -0.7, 1.1], dtype=torch.float64)
    _, gradient, hessian = low_data.expected_loss(a, 0.2)
    value = torch.autograd.functional.jacobian(lambda a: low_data.expected_loss(a, 0.2)[0], a)
    twice = torch.autograd.functional.hessian(lambda a: low_data.expected_loss(a, 0.2)[0], a)
    torch.testing.assert_close(gradient, value)
    torch.testing.assert_close(hessian, twice)


def test_the_expected_loss_is_that_of_sampled_sets():
    """On 2 x 2,000 examples the pair is all but drawn with replacement."""
    labels = torch.arange(4000) % 2
    x = torch.where(torch.arange(4000) < 1200, labels + 1, 0)
    a = torch.tensor([0.3, -0.7, 1.1], dtype=torch.float64)
    sets = ClassIndex(labels).draw_sets(
        k=1, sets=100_000, generator=torch.Generator().manual_seed(0)
    )
    table = torch.stack([torch.zeros(3).double(), a], dim=1)
    losses = OddKOutLoss(k=1, reduction="none")(table[x], labels, sets=sets)
    expected = float(low_data.expected_loss(a, 0.3)[0])
    assert abs(float(losses.mean()) - expected) < 4 * float(losses.std()) / math.sqrt(100_000)


def test_row_14_is_the_only_misprint_and_is_corrected():
    (text,) = low_data_terms.misprints()
    assert text.startswith("row 14")
    assert text.endswith("it is x = (0, 2, 1)")


@pytest.mark.parametrize(
    ("row", "damage", "message"),
    [
        (3, {"powers": (2, 1)}, "row 3: epsilon has powers"),
        (9, {"denominator": (1, 1, 1)}, "row 9: V has exponents"),
        (16, {"numerator": (0, 0, 0)}, "row 16: V has exponents"),
        (4, {"inputs": (2, 0, 0)}, "row 4 prints x"),
    ],
)
def test_other_misprints_would_be_found(row, damage, message):
    printed = list(low_data_terms.PRINTED)
    printed[row - 1] = replace(printed[row - 1], **damage)
    assert any(text.startswith(message) for text in low_data_terms.misprints(printed))


def test_probabilities_of_the_cases_add_up():
    for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        terms = low_data_terms.derived_terms()
        assert sum(low_data_terms.probability(term, epsilon) for term in terms) == 1
        for (x, y), share in low_data_terms.proportions(epsilon).items():
            seen = sum(
                low_data_terms.probability(term, epsilon)
                for term in terms
                if (term.inputs[0], term.labels[0]) == (x, y)
            )
            assert seen == share, "classes are even, so the first member is drawn as the data are"


# Algorithm 1 and the risks


@pytest.mark.parametrize(("classes", "k"), [(2, 0), (3, 1), (4, 2), (5, 4)])
def test_there_are_as_many_kinds_of_sets_as_the_paper_counts(classes, k):
    sets = class_sets(classes, k)
    assert len(sets) == constant(classes, k) == classes * math.comb(classes - 1, k)
    assert len(set(map(tuple, sets.tolist()))) == len(sets)
    assert (sets[:, 0] == sets[:, 1]).all()
    assert all(len(set(row[1:])) == k + 1 for row in sets.tolist())


def test_probabilities_of_algorithm_1_are_those_of_the_sampler():
    labels = [0, 0, 0, 1, 1, 2, 2]
    probability = set_probabilities(labels, 1)
    assert sum(probability.values()) == 1
    draws = 60_000
    sets = ClassIndex(labels).draw_sets(k=1, sets=draws, generator=torch.Generator().manual_seed(0))
    seen = Counter(map(tuple, sets.tolist()))
    for outcome, chance in probability.items():
        sigma = math.sqrt(draws * chance * (1 - chance))
        assert abs(seen[outcome] - draws * chance) < 5 * sigma
    assert seen.keys() <= probability.keys()


def test_the_hard_risk_of_two_classes_has_a_closed_form():
    logits = [[0.3, -0.2], [0.5, 1.1]]
    first, second = (2 * logits[0][c] + logits[1][c] for c in (0, 1))
    third, fourth = (2 * logits[1][c] + logits[0][c] for c in (0, 1))
    expected = math.log1p(math.exp(second - first)) + math.log1p(math.exp(third - fourth))
    assert printed_risk(logits, 1) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("targets", ["hard", "soft"])
@pytest.mark.parametrize(("classes", "k"), [(2, 1), (4, 0), (4, 2), (5, 1), (5, 4)])
@pytest.mark.parametrize(("row", "column"), [(0, 0), (1, 0), (0, 1)])
def test_derivatives_in_one_entry_equal_autograd(targets, classes, k, row, column):
    from mpmath import iv

    logits = random_matrix(classes, seed=1)

    def printed(x):
        mask = torch.zeros_like(logits)
        mask[row, column] = 1
        moved = torch.where(mask.bool(), x, logits)
        return constant(classes, k, targets) * risk(moved, k, targets)

    x = torch.tensor(0.4, dtype=torch.float64)
    terms = slice_terms(logits, k, row=row, column=column)[targets]
    once = float(torch.autograd.functional.jacobian(printed, x))
    twice = float(torch.autograd.functional.hessian(printed, x))
    assert float(first_derivative(terms, iv.mpf(0.4)).mid) == pytest.approx(once, abs=1e-12)
    assert float(second_derivative(terms, iv.mpf(0.4)).mid) == pytest.approx(twice, abs=1e-12)
    if k:
        least = minimum(terms)
        near = [float(printed(torch.tensor(least + step).double())) for step in (-1e-3, 0, 1e-3)]
        assert near[1] == min(near)


# Divergence


@pytest.mark.parametrize(("classes", "k"), [(2, 1), (5, 1), (5, 3), (6, 0)])
def test_the_paper_s_slopes_are_those_of_its_summand(classes, k):
    def summand(a, b):
        other = (classes - k - 1) * math.exp((k + 2) * b)
        total = math.exp(2 * a + k * b) + k * math.exp(a + (k + 1) * b) + other
        return 2 * a + k * b - math.log(total)

    a, b, step = 0.4, -0.3, 1e-5
    by_a, by_b = slopes(a, b, classes=classes, k=k)
    assert by_a == pytest.approx((summand(a + step, b) - summand(a - step, b)) / 2 / step, abs=1e-9)
    assert by_b == pytest.approx((summand(a, b + step) - summand(a, b - step)) / 2 / step, abs=1e-9)


@pytest.mark.parametrize("kind", ["oko", "cross-entropy", "label smoothing"])
def test_descent_in_the_margin_is_descent_in_all_logits(kind):
    def loss(logits):
        if kind == "oko":
            return risk(logits, 1)
        smoothing = 0.1 if kind == "label smoothing" else 0.0
        return torch.nn.functional.cross_entropy(logits, torch.arange(6), label_smoothing=smoothing)

    path = descent(loss, classes=6, steps=60, rate=0.7)
    margins = [a - b for a, b in zip(path.diagonal, path.off_diagonal, strict=True)]
    assert margin_growth(kind, classes=6, steps=60, rate=0.7) == pytest.approx(margins, abs=1e-12)
    assert path.asymmetry < 1e-13


def test_a_symmetric_matrix_has_two_values():
    assert symmetric(2, -1, 3).tolist() == [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]]


def test_the_toy_descends_by_its_gradient():
    def toy(point):
        x, y = point
        return -x - y + (y - x) ** 2

    path = toy_path((0.5, 2), rate=0.1, steps=5)
    for here, there in pairwise(path):
        gradient = torch.autograd.functional.jacobian(toy, here)
        torch.testing.assert_close(there, here - 0.1 * gradient)


# Pools


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
