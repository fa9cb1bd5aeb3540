"""Stacks: fit one or several methods, and weigh their predictions out of fold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from oddkout.calibrators.temperature import example_weights
from oddkout.checks import Number
from oddkout.fitting.folds import UNSCORED, Calibration, FoldScores, fitted_ledger, scoring_parts
from oddkout.fitting.methods import Method
from oddkout.fitting.networks import network_name
from oddkout.fitting.pipeline import Fitted, MembersOption, fit_network
from oddkout.fitting.preparation import Prepared
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.threads import one_blas_thread
from oddkout.fitting.training import Progress
from oddkout.fitting.views import TABLE_PSEUDO_EXAMPLES, views_of
from oddkout.mixture import PSEUDO_EXAMPLES, Mixture, View, mixed, mixture_weights
from oddkout.models.ensemble import combined, single_networks
from oddkout.prior import Frequencies, Population, PriorLedger, judged_prior


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A fitted classifier of one or several methods.

    Attributes:
        method: The method, of which the views are the parts.
        views: What was fitted with each of them.
        weights: Their shares of the prediction.
        exponent: Power of the mean probabilities of several views.
        scores: Calibration and out-of-fold predictions; None without folds.
    """

    method: Method
    views: tuple[Fitted, ...]
    weights: tuple[float, ...] = (1.0,)
    exponent: Number = 1.0
    scores: FoldScores | None = None

    @cached_property
    def model(self) -> nn.Module:
        """The network, or the ensemble of all networks."""
        return combined(single for view in self.views for single in single_networks(view.model))

    @property
    def members(self) -> int:
        """Number of networks."""
        return sum(view.members for view in self.views)

    @property
    def calibrated(self) -> Mixture:
        """How the networks are combined, with what was fitted out of fold."""
        return self._mixture([view.calibrated for view in self.views], self.weights, self.exponent)

    @property
    def as_trained(self) -> Mixture:
        """How the networks are combined without anything that was fitted out of fold."""
        equal = [1 / len(self.views)] * len(self.views)
        return self._mixture([view.as_trained for view in self.views], equal, 1.0)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know about the fit, one sentence each."""
        return tuple(dict.fromkeys(note for view in self.views for note in view.notes))

    @property
    def seconds(self) -> dict[str, float]:
        """Duration of the final training and of the folds."""
        names = self.views[0].seconds
        return {name: sum(view.seconds[name] for view in self.views) for name in names}

    def with_method(self, method: Method) -> "Stack":
        """The same networks, as a method that trains identically but prescribes a temperature."""
        if method.parts is not None or method.is_for_tables:
            return self
        return replace(self, method=method, views=(replace(self.views[0], method=method),))

    def _mixture(
        self, ledgers: Sequence[PriorLedger], weights: Sequence[float], exponent: Number
    ) -> Mixture:
        """The mixture of all views."""
        return Mixture(
            views=tuple(
                View(
                    method=view.method.name,
                    network=network_name(view.recipe, view.method),
                    encoding=view.encoding,
                    ledger=ledger,
                    members=view.members,
                    weight=weight,
                )
                for view, ledger, weight in zip(self.views, ledgers, weights, strict=True)
            ),
            exponent=exponent,
        )


@one_blas_thread()
def fit_stack(
    data: Prepared,
    *,
    method: Method,
    recipe: Recipe,
    choices: Mapping[str, Sequence[Any]],
    folds: int,
    members: MembersOption,
    calibration: Calibration,
    population: Population,
    seed: int,
    checkpoints: Path | None = None,
    processes: int | None = None,
    progress: Progress | None = None,
) -> Stack:
    """Fit all parts of a method and, if there are several, their weights.

    The arguments are those of ``fit_network``.
    """
    sizes = data.y.bincount(minlength=len(data.classes)).tolist()
    plans = views_of(method, sizes, recipe=recipe, choices=choices)
    views = tuple(
        fit_network(
            data,
            method=plan.method,
            recipe=plan.recipe,
            choices=plan.choices,
            folds=folds,
            members=members,
            calibration=calibration,
            population=population,
            seed=seed,
            checkpoints=_folder(checkpoints, plan.name, is_only=len(plans) == 1),
            processes=processes,
            progress=_share_of(progress, number, len(plans)),
        )
        for number, plan in enumerate(plans)
    )
    return combined_views(
        method,
        views,
        data.y,
        calibration=calibration,
        judged=judged_prior(population, classes=len(data.classes)),
    )


def combined_views(
    method: Method,
    views: tuple[Fitted, ...],
    y: Tensor,
    *,
    calibration: Calibration,
    judged: Frequencies | None,
) -> Stack:
    """Weigh views by their out-of-fold predictions, and score the result.

    Args:
        method: The method that they are parts of.
        views: What was fitted with each part; all with the same folds.
        y: Classes of the training examples.
        calibration: Weights are equal if it is ``"none"``.
        judged: Class frequencies to judge for; None for those of the examples.
    """
    if len(views) == 1:
        return Stack(method=method, views=views, scores=views[0].scores)
    found = [view.scores for view in views if view.scores is not None]
    if len(found) < len(views):
        return Stack(method=method, views=views, weights=(1 / len(views),) * len(views))
    is_scored = torch.stack([scores.fold_of != UNSCORED for scores in found]).all(dim=0)
    labels = y[is_scored]
    log_probs = [scores.calibrated[is_scored].log_softmax(dim=1) for scores in found]

    def fit(rows: Tensor) -> tuple[tuple[float, ...], float]:
        """Weights and exponent from some of the examples."""
        chosen = [part[rows] for part in log_probs]
        own = torch.stack([part.gather(1, labels[rows][:, None])[:, 0] for part in chosen], dim=1)
        importance = example_weights(labels[rows], judged)
        weights = mixture_weights(
            own.exp(),
            importance=importance,
            pseudo_examples=TABLE_PSEUDO_EXAMPLES if method.is_for_tables else PSEUDO_EXAMPLES,
        )
        if calibration == "none":
            return (1 / len(found),) * len(found), 1.0
        ledger = fitted_ledger(
            _same(views[0].calibrated),
            mixed(chosen, weights=weights),
            labels[rows],
            calibration="temperature",
            judged=judged,
        )
        return weights, 1 / float(ledger.temperature)

    everything = torch.arange(len(labels))
    weights, exponent = fit(everything)
    parts = scoring_parts(found[0].fold_of[is_scored])
    scored = torch.empty_like(log_probs[0])
    for part in parts.unique().tolist():  # type: ignore[no-untyped-call]  # untyped in PyTorch
        rows = everything[parts == part]
        own, power = fit(everything[parts != part]) if len(labels) > 1 else (weights, 1.0)
        scored[rows] = power * mixed([one[rows] for one in log_probs], weights=own)
    calibrated = torch.zeros(len(y), scored.shape[1], dtype=scored.dtype)
    calibrated[is_scored] = scored.log_softmax(dim=1)
    importance = example_weights(labels, judged)
    nll = F.cross_entropy(scored, labels, reduction="none")
    hits = (scored.argmax(dim=1) == labels).double()
    return Stack(
        method=method,
        views=views,
        weights=weights,
        exponent=exponent,
        scores=FoldScores(
            logits=calibrated,
            calibrated=calibrated,
            fold_of=torch.where(is_scored, found[0].fold_of, UNSCORED),
            ledger=_same(views[0].calibrated),
            metrics={"nll": (importance @ nll).item(), "accuracy": (importance @ hits).item()},
        ),
    )


def _same(ledger: PriorLedger) -> PriorLedger:
    """A ledger for log-probabilities that are calibrated already."""
    return PriorLedger(assumed=ledger.stated, stated=ledger.stated, train=ledger.train)


def _folder(checkpoints: Path | None, view: str, *, is_only: bool) -> Path | None:
    """Folder for the checkpoints of one view."""
    return checkpoints if checkpoints is None or is_only else checkpoints / view


def _share_of(progress: Progress | None, number: int, parts: int) -> Progress | None:
    """Progress of one of several parts, counted as if all were as long."""
    if progress is None or parts == 1:
        return progress

    def report(row: dict[str, Number]) -> None:
        total = row["total"]
        progress(row | {"done": number * total + row["done"], "total": parts * total})

    return report
