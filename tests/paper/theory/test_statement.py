"""A check holds within its tolerance, a statement if all its checks do."""

import math

import pytest
from statements import BAD, GOOD, statement_with

from oddkout.paper.theory import Check


@pytest.mark.parametrize(
    ("value", "relation", "expected", "tolerance", "holds"),
    [
        (1.05, "=", 1, 0.1, True),
        (0.95, "=", 1, 0.1, True),
        (1.2, "=", 1, 0.1, False),
        (0.8, "=", 1, 0.1, False),
        (-5, "<=", 1, 0, True),
        (1.05, "<=", 1, 0.1, True),
        (1.2, "<=", 1, 0.1, False),
        (5, ">=", 1, 0, True),
        (0.95, ">=", 1, 0.1, True),
        (0.8, ">=", 1, 0.1, False),
        *((math.nan, relation, 0, 1, False) for relation in ("=", "<=", ">=")),
    ],
)
def test_a_check_holds_within_its_tolerance(value, relation, expected, tolerance, holds):
    check = Check(
        quantity="", value=value, relation=relation, expected=expected, tolerance=tolerance
    )
    assert check.holds is holds


def test_a_statement_holds_if_it_has_checks_and_all_hold():
    assert statement_with(GOOD, GOOD).holds
    assert not statement_with(GOOD, BAD).holds
    assert not statement_with().holds
