"""Trials of decisions: what would be decided on test examples, counted another way."""

import numpy as np
import pytest
from simulated import class_shares, predictions, softmax

from oddkout.decisions import PredictionSets, Referral
from oddkout.decisions.held_out import HeldOut
from oddkout.decisions.trial import COVERAGE, RISKS, trial, trial_record

NAMES = ("a", "b", "c")


@pytest.fixture(scope="module")
def given():
    rng, shares = np.random.default_rng(0), class_shares(3, 60.0)
    logits, labels = predictions(500, shares, rng, signal=2.5)
    new, truth = predictions(400, shares, rng, signal=2.5)
    return logits, labels, new, truth, shares


def held_out(logits, labels, **options):
    zeros = np.zeros(len(labels), dtype=np.int64)
    given = {"folds": zeros, "groups": None, "source": "split"} | options
    return HeldOut(logits=logits, labels=labels, **given)


def test_sets_and_answers_are_those_of_their_classes(given):
    logits, labels, new, _, shares = given
    equal = (1 / 3,) * 3
    for stated, shift in ((shares, {}), (equal, {"prior": equal, "train_prior": equal})):
        found = trial(
            held_out(logits, labels), logits=new, members=None, stated=tuple(stated),
            train=tuple(shares), classes=NAMES,
        )  # fmt: skip
        sets = PredictionSets(COVERAGE).fit(logits, labels, **shift)
        np.testing.assert_array_equal(found.sets, sets.predict(new))
        for risk, answered in zip(RISKS, found.answered.T, strict=True):
            answers = Referral(risk=risk).fit(logits, labels, **shift).predict(new)
            np.testing.assert_array_equal(answered, answers != "refer")


def test_members_decide_on_sets_together(given):
    logits, labels, new, _, shares = given
    rng = np.random.default_rng(1)
    members = np.stack([new + rng.normal(size=new.shape) for _ in range(2)], axis=1)
    folds = np.arange(500) % 2
    found = trial(
        held_out(logits, labels, folds=folds, source="members"), logits=new, members=members,
        stated=tuple(shares), train=tuple(shares), classes=NAMES,
    )  # fmt: skip
    expected = PredictionSets(COVERAGE).fit(logits, labels, folds=folds).predict(members)
    np.testing.assert_array_equal(found.sets, expected)
    assert "1 - 2 alpha" in found.promises["sets"]["guarantee"]
    notes = [note for one in found.promises["answers"] for note in one["notes"]]
    assert any("approximate" in note for note in notes)


def test_the_record_counts_by_hand_and_names_classes_without_a_guarantee(given):
    logits, labels, new, truth, shares = given
    rare = np.flatnonzero(labels == 2)
    kept = np.setdiff1d(np.arange(500), rare[4:])
    found = trial(
        held_out(logits[kept], labels[kept]), logits=new, members=None, stated=tuple(shares),
        train=tuple(shares), classes=NAMES,
    )  # fmt: skip
    predicted = new.argmax(axis=1)
    record = trial_record(found, labels=truth, predicted=predicted, classes=NAMES)
    sets = record["sets"]
    assert sets["always"] == ["c"]
    assert "c (4)" in sets["notes"][0]
    hits = [found.sets[row, truth[row]] for row in range(400)]
    assert sets["test"]["coverage"] == pytest.approx(np.mean(hits))
    assert sets["test"]["size"] == pytest.approx(found.sets.sum() / 400)
    for number, row in enumerate(sets["test_by_class"]):
        mine = truth == number
        assert row["name"] == NAMES[number]
        assert row["coverage"] == pytest.approx(found.sets[mine, number].mean())
    shares_answered = []
    for column, answers in enumerate(record["answers"]):
        chosen = found.answered[:, column]
        shares_answered.append(answers["test"]["answered"])
        assert answers["test"]["answered"] == chosen.mean()
        if chosen.any():
            wrong = (softmax(new)[chosen].argmax(axis=1) != truth[chosen]).mean()
            assert answers["test"]["wrong"] == pytest.approx(wrong)
        else:
            assert answers["test"]["wrong"] is None
    assert shares_answered == sorted(shares_answered), "a higher risk answers more"
    assert shares_answered[-1] > 0.5
