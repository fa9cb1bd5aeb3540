"""What a contestant wins by: NLL, accuracy or cost of its out-of-fold predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Literal, get_args

import torch

from oddkout.calibrators.temperature import example_weights
from oddkout.checks import one_of
from oddkout.comparing.example_values import example_values
from oddkout.comparing.run import Run
from oddkout.decisions.cost_table import CostTable
from oddkout.decisions.costing import paid_costs
from oddkout.metrics.catalogue import CATALOGUE
from oddkout.prior import judged_prior

Criterion = Literal["nll", "accuracy", "cost"]


def chosen_criterion(criterion: str | None, *, has_costs: bool) -> Criterion:
    """The criterion that a user asks for: by default cost if there are costs, else NLL.

    Example:
        >>> chosen_criterion(None, has_costs=False), chosen_criterion(None, has_costs=True)
        ('nll', 'cost')
    """
    if criterion is None:
        return "cost" if has_costs else "nll"
    one_of("criterion", criterion, get_args(Criterion))
    if criterion == "cost" and not has_costs:
        raise ValueError(
            "to win by cost, costs must be given, got none; pass costs=... (--costs costs.csv)"
        )
    found: Criterion = criterion  # type: ignore[assignment]  # checked by one_of
    return found


def in_words(criterion: Criterion) -> str:
    """What the winner has.

    Example:
        >>> in_words("nll"), in_words("accuracy")
        ('lowest out-of-fold NLL', 'highest out-of-fold accuracy')
    """
    title = {"cost": "cost"}.get(criterion, CATALOGUE[criterion].title)
    best = "highest" if CATALOGUE[criterion].direction == "higher" else "lowest"
    return f"{best} out-of-fold {title}"


def mean_out_of_fold(runs: Sequence[Run], metric: str) -> float:
    """Mean over seeds of an out-of-fold metric; NaN if a run has none."""
    if not all(metric in run.fold_metrics for run in runs):
        return float("nan")
    return fmean(run.fold_metrics[metric] for run in runs)


def ranked_by(criterion: Criterion, contestants: Mapping[str, Sequence[Run]]) -> list[str]:
    """The contestants with folds, best first; NLL breaks ties.

    Args:
        criterion: What to win by.
        contestants: The runs of each contestant.
    """
    sign = CATALOGUE[criterion].sign
    scores = {
        name: (sign * mean_out_of_fold(runs, criterion), mean_out_of_fold(runs, "nll"))
        for name, runs in contestants.items()
    }
    known = {name: score for name, score in scores.items() if score[0] == score[0]}
    return sorted(known, key=lambda name: known[name])


def priced(runs: Sequence[Run], costs: CostTable) -> list[Run]:
    """Copies of runs with what their answers cost, out of fold and on the test part.

    Examples weigh as for all other metrics: out of fold by the population that is judged for.

    Args:
        runs: Runs with their predictions.
        costs: What answers cost.
    """
    return [run if run.has_failed else _priced(run, costs) for run in runs]


def _priced(run: Run, costs: CostTable) -> Run:
    copy = replace(run, costs=costs)
    for kind in ("as_trained", "tempered"):
        values = example_values(copy, "cost", is_tempered=kind == "tempered")
        setattr(copy, kind, getattr(run, kind) | {"cost": {"value": float(values.mean())}})
    if not run.fold_metrics:
        return copy
    if run.fold_calibrated is None or run.fold_labels is None:
        raise ValueError(
            f"run {run.config.id} was made by an earlier version, without the calibrated "
            "out-of-fold predictions that costs need; compare in a new folder"
        )
    paid = paid_costs(logits=run.fold_calibrated, matrix=costs.matrix, labels=run.fold_labels)
    judged = judged_prior(run.config.population, classes=len(run.classes))
    weights = example_weights(torch.from_numpy(run.fold_labels), judged)
    cost = float(weights.double() @ torch.from_numpy(paid))
    copy.fold_metrics = run.fold_metrics | {"cost": cost}
    return copy
