"""The 16 cases of Theorem 1: misprints are found, and probabilities add up."""

from dataclasses import replace
from fractions import Fraction

import pytest

from oddkout.paper.theory import low_data_terms


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
