"""Decide on cases with a fitted classifier and its held-out predictions."""

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Number
from oddkout.decisions.cost_table import cost_table
from oddkout.decisions.costing import costs as expected_costs
from oddkout.decisions.costing import policy_costs
from oddkout.decisions.decided import Decisions, decided_costs, decided_referrals, decided_sets
from oddkout.decisions.held_out import HeldOut
from oddkout.decisions.inputs import probabilities
from oddkout.decisions.referral import Referral
from oddkout.decisions.sets import PredictionSets
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
    # Held-out examples occur as in training; weigh them if predictions are for something else.
    target = prior if prior is not None or mixture.stated == mixture.train else mixture.stated
    shift: dict[str, Any] = (
        {} if target is None else {"prior": target, "train_prior": mixture.stated}
    )
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
    common: dict[str, Any] = {"classes": classes, "groups": held_out.groups} | shift
    if risk is not None:
        referral = Referral(risk=risk, by_class=bool(by_class))
        referral.fit(held_out.logits, held_out.labels, **common)
        probs = probabilities(mixture.combined(logits))
        return decided_referrals(referral, probs, source=held_out.source)
    assert coverage is not None
    sets = PredictionSets(coverage, by_class=by_class is not False)
    if held_out.source == "members":
        sets.fit(held_out.logits, held_out.labels, folds=held_out.folds, **common)
        is_in = sets.predict(mixture.by_member(logits))
    else:
        sets.fit(held_out.logits, held_out.labels, **common)
        is_in = sets.predict(mixture.combined(logits))
    return decided_sets(sets, is_in, source=held_out.source)
