"""Decided cases: an answer and a reason each, and what is promised of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from oddkout.decisions.cost_table import CostTable
from oddkout.decisions.costing import PolicyCost
from oddkout.decisions.inputs import percent
from oddkout.decisions.promises import Source
from oddkout.decisions.referral import REFER, Referral
from oddkout.decisions.sets import PredictionSets

# The answer to a case: the name of a class, another answer such as "refer", or a set of names.
Answer = str | tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """Decided cases, in their order; iterate over them for the answers.

    Attributes:
        kind: ``"coverage"``, ``"risk"`` or ``"costs"``: what was asked for.
        answers: The answer to each case: a name, or a set of names for ``"coverage"``.
        reasons: Why, one sentence each.
        summary: All cases in one sentence.
        guarantee: What is promised, and what not.
        notes: What a user should know, one sentence each.
        policies: For ``"costs"``: what held-out cases cost, by these and by other answers.
    """

    kind: str
    answers: tuple[Answer, ...]
    reasons: tuple[str, ...]
    summary: str
    guarantee: str
    notes: tuple[str, ...] = ()
    policies: tuple[PolicyCost, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __getitem__(self, position: int) -> Answer:
        return self.answers[position]

    def __str__(self) -> str:
        return "\n".join([self.summary, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        name = "set" if self.kind == "coverage" else "answer"
        cases = [
            {name: list(answer) if isinstance(answer, tuple) else answer, "reason": reason}
            for answer, reason in zip(self.answers, self.reasons, strict=True)
        ]
        record = {"kind": self.kind, "summary": self.summary, "guarantee": self.guarantee}
        costs = {one.policy: [one.cost, *one.interval] for one in self.policies}
        return record | {"notes": list(self.notes), "costs": costs, "cases": cases}


def decided_sets(
    sets: PredictionSets, is_in: Bool[ndarray, "examples classes"], *, source: Source
) -> Decisions:
    """Describe prediction sets.

    Args:
        sets: The fitted sets.
        is_in: Whether each class is in the set of each case.
        source: Where the calibration scores come from.
    """
    names = np.array(sets.classes, dtype=object)
    answers = tuple(tuple(names[row].tolist()) for row in is_in)
    forced = [sets.classes[number] for number in sets.always]
    sizes = is_in.sum(axis=1)
    one, none = int((sizes == 1).sum()), int((sizes == 0).sum())
    guarantee = sets.guarantee_from(source)
    return Decisions(
        kind="coverage",
        answers=answers,
        reasons=tuple(_set_reason(answer, forced) for answer in answers),
        summary=f"of {len(answers)} cases {one} have a single class in their set, "
        f"{len(answers) - one - none} several, {none} none; {guarantee}",
        guarantee=guarantee,
        notes=sets.notes,
    )


def _set_reason(answer: tuple[str, ...], forced: Sequence[str]) -> str:
    """Why the set is as it is."""
    fitting = [name for name in answer if name not in forced]
    because = f"{', '.join(forced)} in every set for want of examples" if forced else ""
    if not answer:
        return "no class fits: the case is unlike the examples of every class; refer it"
    if not fitting:
        return f"no other class fits; {because}"
    count = "one class fits" if len(fitting) == 1 else f"{len(fitting)} classes fit"
    return f"{count}; {because}" if forced else count


def decided_referrals(
    referral: Referral, probs: Float[ndarray, "examples classes"], *, source: Source
) -> Decisions:
    """Describe answers and referrals.

    Args:
        referral: The fitted referral, with the names of the classes.
        probs: Probabilities of the cases, for the class frequencies of the calibration examples.
        source: Where the calibration scores come from.
    """
    rows = referral.moved(probs=probs)
    answers = tuple(str(answer) for answer in referral.predict(probs=probs))
    confidence, limit = rows.max(axis=1), referral.thresholds[rows.argmax(axis=1)]
    reasons = []
    for answer, own, least in zip(answers, confidence, limit, strict=True):
        if answer != REFER:
            reasons.append(f"confidence {_digits(own)} is above {_digits(least)}")
        elif least >= 1:
            reasons.append("no answer can be shown to be safe enough")
        else:
            reasons.append(f"confidence {_digits(own)} is not above {_digits(least)}")
    referred = sum(answer == REFER for answer in answers)
    guarantee, notes = referral.guarantee, referral.notes + approximate_note(referral, source)
    return Decisions(
        kind="risk",
        answers=answers,
        reasons=tuple(reasons),
        summary=f"of {len(answers)} cases {len(answers) - referred} are answered, {referred} "
        f"referred; {guarantee}",
        guarantee=guarantee,
        notes=notes,
    )


def approximate_note(referral: Referral, source: Source) -> tuple[str, ...]:
    """A note if the promise of a referral is not exact.

    Args:
        referral: The fitted referral.
        source: Where the calibration scores come from.
    """
    if source == "split" or not referral.answered.sum():
        return ()
    return (
        "the thresholds were fitted to out-of-fold predictions of other networks than those that "
        "answer, so that the stated confidence is approximate",
    )


def decided_costs(
    table: CostTable,
    expected: Float[ndarray, "examples answers"],
    *,
    policies: Sequence[PolicyCost] = (),
) -> Decisions:
    """Describe the cheapest answers.

    Args:
        table: The costs.
        expected: Expected cost of each answer for each case.
        policies: What held-out cases cost, by these and by other answers.
    """
    order = expected.argsort(axis=1, kind="stable")
    answers = tuple(table.answers[number] for number in order[:, 0])
    reasons = tuple(
        f"expected cost {row[first]:.3g}; next {table.answers[second]} at {row[second]:.3g}"
        for row, (first, second) in zip(expected, order[:, :2], strict=True)
    )
    counts = ", ".join(f"{count} {name}" for name, count in Counter(answers).most_common())
    mean = float(expected.min(axis=1).mean()) if len(expected) else 0.0
    guarantee = "answers are the cheapest if the probabilities are right; nothing is guaranteed"
    notes: tuple[str, ...] = ()
    if policies:
        ours, *others = policies
        best = min(others, key=lambda one: one.cost)
        notes = (
            f"on held-out training cases the cheapest answers cost {ours.cost:.3g} per case (95 % "
            f"interval {ours.interval[0]:.3g} to {ours.interval[1]:.3g}); the best without a model "
            f"is '{best.policy}' at {best.cost:.3g}, which costs {best.excess:.3g} more (95 % "
            f"interval {best.excess_interval[0]:.3g} to {best.excess_interval[1]:.3g})",
        )
    return Decisions(
        kind="costs",
        answers=answers,
        reasons=reasons,
        summary=f"of {len(answers)} cases: {counts}; expected cost per case {mean:.3g}",
        guarantee=guarantee,
        notes=notes,
        policies=tuple(policies),
    )


def _digits(value: float) -> str:
    """A confidence in percent, with enough digits to tell 99.9 % from 100 %."""
    return percent(value) if value < 0.99 else f"{100 * value:.4g} %"
