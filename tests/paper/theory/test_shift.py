"""Shift invariance, by hand."""

from fractions import Fraction

from oddkout.paper.theory.shift import grounded, weighted_sum


def test_grounded_vectors_begin_with_0_and_keep_their_differences():
    (vector,) = grounded([[Fraction(3), Fraction(5), Fraction(-1)]])
    assert vector == [0, 2, -4]
    vectors = [[Fraction(1), Fraction(2)], [Fraction(3), Fraction(5)]]
    assert weighted_sum([Fraction(2), Fraction(-1)], vectors) == [-1, -1]
