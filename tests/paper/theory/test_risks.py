"""The risks of a memorised matrix, by closed form."""

import math

import pytest

from oddkout.paper.theory.risks import printed_risk


def test_the_hard_risk_of_two_classes_has_a_closed_form():
    logits = [[0.3, -0.2], [0.5, 1.1]]
    first, second = (2 * logits[0][c] + logits[1][c] for c in (0, 1))
    third, fourth = (2 * logits[1][c] + logits[0][c] for c in (0, 1))
    expected = math.log1p(math.exp(second - first)) + math.log1p(math.exp(third - fourth))
    assert printed_risk(logits, 1) == pytest.approx(expected, rel=1e-14)
