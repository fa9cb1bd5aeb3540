"""The card says what decisions promise, and how they do on the test part."""

import json

import numpy as np
import pytest
from rivals import signal_table

import oddkout as oko
from oddkout.cli.promises import promise_lines

QUICK = {"learning_rates": [0.1], "recipe": {"updates": 40}, "folds": 2}


@pytest.fixture(scope="module")
def fitted():
    source = signal_table(rows=400, signal=3.0)
    return oko.load_data(source), oko.fit(source, **QUICK)


def test_the_card_holds_what_decide_does_on_the_test_part(fitted):
    data, classifier = fitted
    decisions = json.loads(json.dumps(classifier.card))["details"]["decisions"]
    names = [classifier.classes[label] for label in data.y_test]
    sets = classifier.decide(data.x_test, coverage=0.9)
    assert decisions["sets"]["guarantee"] == sets.guarantee
    hits = [name in answer for name, answer in zip(names, sets, strict=True)]
    assert decisions["sets"]["test"]["coverage"] == pytest.approx(np.mean(hits))
    assert decisions["sets"]["test"]["size"] == pytest.approx(np.mean([len(one) for one in sets]))
    for promise in decisions["answers"]:
        answers = classifier.decide(data.x_test, risk=promise["risk"])
        pairs = [(a, n) for a, n in zip(answers, names, strict=True) if a != "refer"]
        assert promise["guarantee"] == answers.guarantee
        assert promise["notes"] == list(answers.notes)
        assert promise["test"]["answered"] == pytest.approx(len(pairs) / len(names))
        if pairs:
            wrong = np.mean([answer != name for answer, name in pairs])
            assert promise["test"]["wrong"] == pytest.approx(wrong)
    assert decisions["answers"][-1]["test"]["answered"] > 0


def test_training_prints_them(fitted):
    _, classifier = fitted
    lines = promise_lines(classifier.details["decisions"])
    assert lines[0].startswith("sets for 90 % coverage of each class: ")
    assert lines[-1].startswith("at 10 % risk ")
    assert promise_lines(None) == []


def test_without_folds_or_test_part_there_are_none():
    source = signal_table(rows=60)
    quick = QUICK | {"recipe": {"updates": 2}}
    for options in ({"test_size": 0.0}, {"folds": 0}):
        assert oko.fit(source, **quick | options).details["decisions"] is None
