"""A trial of decisions: sets and referral from held-out predictions, on examples of known class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from numpy import ndarray

from oddkout.checks import Matrix
from oddkout.decisions.coverage import set_coverage
from oddkout.decisions.decided import approximate_note
from oddkout.decisions.held_out import HeldOut, prior_shift
from oddkout.decisions.inputs import probabilities
from oddkout.decisions.referral import REFER
from oddkout.metrics.intervals import clopper_pearson

# What reports and cards measure: the coverage of sets, for each class, and the risks of answers.
COVERAGE = 0.9
RISKS = (0.01, 0.05, 0.1)


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Decisions on test examples.

    Attributes:
        sets: Whether each class is in the set of each example.
        answered: Whether each example is answered, at each of ``RISKS``.
        promises: What is promised, in words: that of the sets, the classes that are in every set
            for want of examples, that of the answers at each risk, and notes.
    """

    sets: Bool[ndarray, "examples classes"]
    answered: Bool[ndarray, "examples risks"]
    promises: dict[str, Any]


def trial(
    held_out: HeldOut,
    *,
    logits: Matrix,
    members: Matrix,
    stated: Sequence[float],
    train: Sequence[float],
    classes: Sequence[str],
) -> Trial:
    """Decide on test examples, as ``Classifier.decide`` would.

    Args:
        held_out: The held-out predictions.
        logits: Calibrated logits of the test examples.
        members: Those of every member, of shape (examples, members, classes), if the held-out
            predictions are from members that decide together; else None.
        stated: Class frequencies that predictions are for.
        train: Class frequencies of the training data.
        classes: Names of the classes.
    """
    shift = prior_shift(stated=stated, train=train)
    sets = held_out.sets(COVERAGE, by_class=True, classes=classes, **shift)
    is_in = sets.predict(members if held_out.source == "members" else logits)
    answered, answers = [], []
    probs = probabilities(logits)
    for risk in RISKS:
        referral = held_out.referral(risk, by_class=False, classes=classes, **shift)
        answered.append(referral.predict(probs=probs) != REFER)
        notes = [*referral.notes, *approximate_note(referral, held_out.source)]
        answers.append({"risk": risk, "guarantee": referral.guarantee, "notes": notes})
    return Trial(
        sets=is_in,
        answered=np.stack(answered, axis=1),
        promises={
            "sets": {
                "coverage": COVERAGE,
                "guarantee": sets.guarantee_from(held_out.source),
                "always": [sets.classes[number] for number in sets.always],
                "notes": list(sets.notes),
            },
            "answers": answers,
        },
    )


def trial_record(
    found: Trial,
    *,
    labels: Int[ndarray, " examples"],
    predicted: Int[ndarray, " examples"],
    classes: Sequence[str],
) -> dict[str, Any]:
    """What is promised and what the test examples say, as plain values.

    Args:
        found: The trial.
        labels: True classes.
        predicted: Most probable classes.
        classes: Names of the classes.
    """
    overall, *by_class = set_coverage(found.sets, labels, classes=classes)
    is_wrong = predicted != labels
    answers = []
    for promise, chosen in zip(found.promises["answers"], found.answered.T, strict=True):
        count, wrong = int(chosen.sum()), int(is_wrong[chosen].sum())
        low, high = clopper_pearson(wrong, count)
        measured = {
            "examples": len(labels),
            "answered": count / len(labels),
            "wrong": wrong / count if count else None,
            "interval": [float(low), float(high)] if count else None,
        }
        answers.append(promise | {"test": measured})
    return {
        "sets": found.promises["sets"]
        | {
            "test": _plain(vars(overall)),
            "test_by_class": [_plain(vars(one)) for one in by_class],
        },
        "answers": answers,
    }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Values for JSON, which has no NaN: None instead."""
    return {
        name: None if value != value else list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if not (name == "name" and value == "")
    }
