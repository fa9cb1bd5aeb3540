"""Effective numbers: the formula, its limits, and digits near beta = 1."""

from fractions import Fraction

import pytest
import torch

from oddkout import class_weights, effective_number_weights

LABELS = [0] * 20 + [1] * 5 + [3]


@pytest.mark.parametrize("beta", [0.5, 0.9, 0.999, 0.9999])
def test_weights_are_the_formula_in_exact_arithmetic(beta):
    exact = Fraction(beta)
    inverse = {c: (1 - exact) / (1 - exact**n) for c, n in ((0, 20), (1, 5), (3, 1))}
    mean = sum(inverse[label] for label in LABELS) / len(LABELS)
    weights = effective_number_weights(LABELS, classes=5, beta=beta)
    expected = [float(inverse[c] / mean) if c in inverse else 0.0 for c in range(5)]
    assert weights.tolist() == pytest.approx(expected, rel=1e-9)


def test_the_limits_are_equal_weights_and_inverse_frequencies():
    equal = effective_number_weights(LABELS, classes=5, beta=0)
    assert equal.tolist() == pytest.approx([1, 1, 0, 1, 0])
    inverse = effective_number_weights(LABELS, classes=5, beta=1 - 1e-12)
    torch.testing.assert_close(inverse.float(), class_weights(LABELS, classes=5))


@pytest.mark.parametrize("beta", [-0.1, 1.0, float("nan")])
def test_another_beta_is_refused(beta):
    with pytest.raises(ValueError, match="beta must lie from 0 to below 1"):
        effective_number_weights(LABELS, classes=5, beta=beta)


def test_labels_outside_the_classes_are_refused():
    with pytest.raises(ValueError, match=r"labels must lie in 0 .. 2, got 0 .. 3"):
        effective_number_weights(LABELS, classes=3)
