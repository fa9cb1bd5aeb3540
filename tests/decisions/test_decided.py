"""Decided cases: answers, reasons and sentences."""

import numpy as np
import pytest

from oddkout.decisions import PredictionSets, Referral, costs, policy_costs
from oddkout.decisions.cost_table import cost_table
from oddkout.decisions.decided import decided_costs, decided_referrals, decided_sets

PROBS = np.array([[0.95, 0.05]] * 60 + [[0.4, 0.6]] * 60)
LABELS = np.array([0] * 60 + [1] * 60)


def test_sets_are_counted_and_explained():
    sets = PredictionSets(0.9).fit(probs=PROBS, labels=LABELS, classes=["well", "ill"])
    is_in = np.array([[True, False], [True, True], [False, False]])
    found = decided_sets(sets, is_in, source="split")
    assert found.answers == (("well",), ("well", "ill"), ())
    assert found.reasons[:2] == ("one class fits", "2 classes fit")
    assert "refer it" in found.reasons[2]
    assert found.summary == (
        "of 3 cases 1 have a single class in their set, 1 several, 1 none; the set holds the true "
        "class in at least 90 % of cases, for each class, whatever the class frequencies"
    )
    assert (len(found), found[1]) == (3, ("well", "ill"))
    assert "nothing is guaranteed" in decided_sets(sets, is_in, source="others").summary


def test_a_class_in_every_set_is_named_in_the_reason():
    sets = PredictionSets(0.9).fit(probs=PROBS[:62], labels=LABELS[:62], classes=["well", "ill"])
    found = decided_sets(sets, np.array([[True, True], [False, True]]), source="split")
    assert found.reasons == (
        "one class fits; ill in every set for want of examples",
        "no other class fits; ill in every set for want of examples",
    )
    assert "the guarantee says nothing about them" in str(found)


def test_answers_and_referrals_are_counted_and_explained():
    referral = Referral(risk=0.05).fit(
        probs=PROBS, labels=np.array([0] * 60 + [0, 1] * 30), classes=["well", "ill"]
    )
    found = decided_referrals(referral, np.array([[0.95, 0.05], [0.4, 0.6]]), source="split")
    assert list(found) == ["well", "refer"]
    assert found.reasons == ("confidence 95 % is above 60 %", "confidence 60 % is not above 60 %")
    assert found.summary == (
        "of 2 cases 1 are answered, 1 referred; at most 5 % of the answered are wrong, with 95 % "
        "confidence"
    )
    assert found.notes == ()
    other = decided_referrals(referral, PROBS, source="members")
    assert "the stated confidence is approximate" in other.notes[0]


def test_cheapest_answers_are_counted_and_compared():
    table = cost_table([[0, 1, 0.3], [5, 0, 0.3]], classes=["well", "ill"])
    policies = policy_costs(PROBS, table.matrix, LABELS, answers=table.answers)
    rows = np.array([[0.99, 0.01], [0.1, 0.9], [0.6, 0.4]])
    found = decided_costs(table, costs(rows, table.matrix), policies=policies)
    assert list(found) == ["well", "ill", "refer"]
    assert found.reasons[0] == "expected cost 0.05; next refer at 0.3"
    assert found.summary.endswith("expected cost per case 0.15")
    assert "the best without a model is 'always refer' at 0.3" in found.notes[0]
    record = found.to_dict()
    assert record["cases"][2] == {"answer": "refer", "reason": found.reasons[2]}
    assert record["costs"]["always refer"][0] == pytest.approx(0.3)
