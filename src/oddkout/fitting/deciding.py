"""Decide on cases with a fitted classifier and its held-out predictions."""

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float, Int
from numpy import ndarray
from torch import Tensor

from oddkout.checks import Number
from oddkout.decisions.cost_table import cost_table
from oddkout.decisions.costing import costs as expected_costs
from oddkout.decisions.costing import policy_costs
from oddkout.decisions.decided import Decisions, decided_costs, decided_referrals, decided_sets
from oddkout.decisions.held_out import HeldOut, prior_shift
from oddkout.decisions.inputs import probabilities
from oddkout.decisions.trial import trial, trial_record
from oddkout.mixture import Mixture


def decided(
    logits: Float[Tensor, "examples *members classes"],
    *,
    mixture: Mixture,
    held_out: HeldOut | None,
    classes: Sequence[str],
    coverage: Number | None,
    risk: Number | None,
    costs: Any,
    prior: Sequence[float] | None,
    by_class: bool | None,
) -> Decisions:
    """Decide on cases; the other arguments are those of ``Classifier.decide``.

    Args:
        logits: Logits of every network.
        mixture: How they predict together.
        held_out: Predictions of training examples by networks that did not see them.
        classes: Names of the classes.
    """
    given = [name for name, value in (("coverage", coverage), ("risk", risk), ("costs", costs))
             if value is not None]  # fmt: skip
    if len(given) != 1:
        raise ValueError(
            "one of coverage, risk and costs must be given, got "
            f"{' and '.join(given) or 'none'}; pass coverage=0.9 for sets, risk=0.05 for answers "
            "or referral, or costs=... for the cheapest answers"
        )
    shift = prior_shift(stated=mixture.stated, train=mixture.train, prior=prior)
    if costs is not None:
        if by_class is not None:
            raise ValueError("by_class is for coverage or risk; leave it out with costs")
        table = cost_table(costs, classes=classes)
        rows = expected_costs(logits=mixture.combined(logits, prior=prior), matrix=table.matrix)
        policies = [] if held_out is None else policy_costs(
            logits=held_out.logits, matrix=table.matrix, labels=held_out.labels,
            answers=table.answers, **shift,
        )  # fmt: skip
        return decided_costs(table, rows, policies=policies)
    if held_out is None:
        raise ValueError(
            "deciding by coverage or risk needs the classifier's held-out predictions, but it has "
            "none: it was trained without folds or by an earlier version; train it again with "
            "folds, or decide by costs"
        )
    if risk is not None:
        referral = held_out.referral(risk, by_class=bool(by_class), classes=classes, **shift)
        probs = probabilities(mixture.combined(logits))
        return decided_referrals(referral, probs, source=held_out.source)
    assert coverage is not None
    sets = held_out.sets(coverage, by_class=by_class is not False, classes=classes, **shift)
    is_from_members = held_out.source == "members"
    is_in = sets.predict(mixture.by_member(logits) if is_from_members else mixture.combined(logits))
    return decided_sets(sets, is_in, source=held_out.source)


def tried(
    logits: Float[Tensor, "examples *members classes"],
    *,
    labels: Int[ndarray, " examples"],
    mixture: Mixture,
    held_out: HeldOut,
    classes: Sequence[str],
) -> dict[str, Any]:
    """What decisions promise, and how they do on examples of known class, for a card.

    Args:
        logits: Logits of every network for the examples.
        labels: Classes of the examples.
        mixture: How the networks predict together.
        held_out: Predictions of training examples by networks that did not see them.
        classes: Names of the classes.
    """
    combined = mixture.combined(logits)
    found = trial(
        held_out,
        logits=combined,
        members=mixture.by_member(logits) if held_out.source == "members" else None,
        stated=mixture.stated,
        train=mixture.train,
        classes=classes,
    )
    predicted = combined.argmax(dim=1).numpy()
    return trial_record(found, labels=labels, predicted=predicted, classes=classes)
