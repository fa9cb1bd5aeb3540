"""The fitting pipeline: train members, choose and calibrate out of fold, combine the networks."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from torch import nn

from oddkout.checks import Number, few, one_of
from oddkout.fitting.counter import UpdateCounter
from oddkout.fitting.folds import Calibration, FoldScores, assigned_folds
from oddkout.fitting.members import member_recipe
from oddkout.fitting.methods import Method
from oddkout.fitting.networks import train_network
from oddkout.fitting.objective import balance_weights
from oddkout.fitting.preparation import Prepared
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.requirements import class_notes, refuse_few_classes
from oddkout.fitting.search import Candidate, RecipeSearch
from oddkout.fitting.selection import runs_of
from oddkout.fitting.training import Progress
from oddkout.models.encodings import EncodingPlan
from oddkout.models.ensemble import combined
from oddkout.prior import (
    Population,
    PriorLedger,
    class_frequencies,
    judged_prior,
    stated_prior,
)

# The networks that predict: those of the folds together, or one trained on everything.
MembersOption = Literal["folds", "single"]


# By how much the mean probabilities of very many members are sharpened.
_SHARPENING = 0.2


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A fitted classifier: networks, calibration and out-of-fold predictions.

    Attributes:
        model: The network, or the ensemble of the members.
        members: Number of networks in the model.
        method: The method it was trained with.
        recipe: The chosen recipe.
        encoding: How the networks see rows of features; None if as they are.
        updates: Number of updates of each network: where training was stopped.
        ledger: Class frequencies of the logits, before calibration; see ``calibrated`` and
            ``as_trained``.
        scores: Calibration and out-of-fold predictions; None without folds.
        curve: Out-of-fold NLL after each stop, by share of the updates.
        choices: Every compared recipe with its out-of-fold NLL, in the order of comparison.
        log: The learning curve.
        notes: What a user should know about the fit, one sentence each.
        seconds: Duration of the final training and of the folds.
    """

    model: nn.Module
    members: int
    method: Method
    recipe: Recipe
    encoding: EncodingPlan | None
    updates: int
    ledger: PriorLedger
    scores: FoldScores | None
    curve: dict[float, float]
    choices: tuple[tuple[Recipe, float], ...]
    log: list[dict[str, Number]]
    notes: tuple[str, ...]
    seconds: dict[str, float]

    @property
    def own_temperature(self) -> Number:
        """The temperature that the method prescribes."""
        prescribed = self.method.temperature
        if prescribed == "fit":
            return self.calibrated.temperature
        return 1.0 if prescribed == "none" else prescribed

    @property
    def calibrated(self) -> PriorLedger:
        """The ledger with what was fitted out of fold."""
        if self.scores is None:
            return self.ledger
        # The last exponent of the method ``tables`` makes up for the underconfidence of all views.
        exponent = 1.0 if self.recipe.stop_every else ensemble_exponent(self.members)
        return replace(self.scores.ledger, exponent=exponent)

    @property
    def as_trained(self) -> PriorLedger:
        """The ledger with the temperature that the method prescribes."""
        return replace(self.ledger, temperature=self.own_temperature)


def fit_network(
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
) -> Fitted:
    """Fit a classifier: train members, choose out of fold, calibrate, combine.

    Args:
        data: The data; only the training part is used.
        method: The method to train with.
        recipe: The recipe to start from.
        choices: What out-of-fold NLL chooses, with the candidates; see ``checked_choices``.
        folds: Number of folds; each trains a network per compared recipe. 1 holds out one part, 0
            is for no folds: one network, not calibrated.
        members: Whether the networks of the folds predict together, or a single network that is
            trained on everything.
        calibration: What to fit to out-of-fold logits.
        population: Class frequencies to evaluate for.
        seed: Seed of all randomness.
        checkpoints: Folder for the states of all trainings, which resume from it.
        processes: Number of processes to train members in; see ``train_members``.
        progress: Called with the rows of all logs; ``done`` and ``total`` count all updates.
    """
    one_of("members", members, get_args(MembersOption))
    searched = runs_of(choices, recipe=recipe, method=method)
    if searched > 1 and not folds:
        rates = choices.get("learning_rate", ())
        raise ValueError(
            f"choosing among {searched} recipes, learning rates {few(rates)}, needs folds, got "
            "folds=0; set folds to 5, or give one learning rate"
        )
    if "augmentation" in choices and data.x.ndim != 4:
        raise ValueError(
            "choosing an augmentation needs images, but examples have the shape "
            f"{tuple(data.x.shape[1:])}; leave it out"
        )
    counts = data.y.bincount(minlength=len(data.classes)).tolist()
    sizes = dict(zip(data.classes, counts, strict=True))
    refuse_few_classes([name for name, size in sizes.items() if size], method)
    fold_of = assigned_folds(data.y, folds=folds, seed=seed, groups=data.groups) if folds else None
    is_single = members == "single" or fold_of is None
    total = recipe.updates if is_single else 0
    if fold_of is not None:
        total += searched * (int(fold_of.max()) + 1) * member_recipe(recipe, fold_of).updates
    counter = UpdateCounter(progress, total=total)
    encoding = None
    if recipe.encoding is not None:
        if data.x.ndim != 2:
            raise ValueError(
                f"the encoding {recipe.encoding!r} needs rows of features, but examples have the "
                f"shape {tuple(data.x.shape[1:])}; choose another method for images"
            )
        encoding = EncodingPlan.of(data.x, name=recipe.encoding)
    ledger = _ledger(data, method, population)
    notes = _notes(data, sizes, folds=folds, method=method)
    began = time.perf_counter()
    best: Candidate | None = None
    compared: tuple[tuple[Recipe, float], ...] = ()
    if fold_of is not None:
        search = RecipeSearch(
            data, method=method, fold_of=fold_of, ledger=ledger, calibration=calibration,
            judged=judged_prior(population, classes=len(data.classes)), seed=seed, counter=counter,
            encoding=encoding, checkpoints=checkpoints, processes=processes,
        )  # fmt: skip
        best = search.best(choices, recipe)
        recipe, compared = best.recipe, tuple(search.compared.items())
        notes += (*search.failures, *best.members.failures)
    seconds = {"folds": time.perf_counter() - began}
    began = time.perf_counter()
    if best is not None and not is_single:
        networks = best.members.networks(best.stop)
        updates, log = best.members.updates[best.stop], best.members.log
    else:
        share = 1.0 if best is None else best.members.stops[best.stop]
        updates = max(1, round(share * recipe.updates))
        trained = train_network(
            data.x,
            data.y,
            recipe=recipe,
            method=method,
            classes=len(data.classes),
            seed=seed,
            encoding=encoding,
            groups=data.groups,
            stops=[updates],
            checkpoint=None if checkpoints is None else checkpoints / "single.safetensors",
            progress=counter.next(recipe.updates),
        )
        networks, log = [trained.model], trained.log
    seconds["train"] = time.perf_counter() - began
    return Fitted(
        model=combined(networks),
        members=len(networks),
        method=method,
        recipe=recipe,
        encoding=encoding,
        updates=updates,
        ledger=ledger,
        scores=None if best is None else best.scores,
        curve={} if best is None else best.curve,
        choices=compared,
        log=log,
        notes=notes,
        seconds=seconds,
    )


def ensemble_exponent(members: int) -> float:
    """Power of the mean probabilities of an ensemble that makes up for their underconfidence.

    Temperature and strength are fitted to predictions of single members. Their mean is more often
    right, but less confident. The exponent was chosen on validation images of MNIST and
    FashionMNIST, see ``docs/recipe.md``; it is 1 for a single network.

    Example:
        >>> ensemble_exponent(1), round(ensemble_exponent(5), 2)
        (1.0, 1.16)
    """
    return 1 + _SHARPENING * (1 - 1 / members)


def _ledger(data: Prepared, method: Method, population: Population) -> PriorLedger:
    """The class frequencies that a method assumes, and those its probabilities are for."""
    classes = len(data.classes)
    train_prior = tuple(class_frequencies(data.y, classes=classes).tolist())
    assumed = train_prior
    if method.balance.kind != "none":
        has_weights = method.balance.beta is not None  # inverse frequencies are exactly uniform
        weights = balance_weights(method, data.y, classes=classes) if has_weights else None
        assumed = tuple(method.balance.assumed_prior(train_prior, weights=weights).tolist())
    stated = stated_prior(population, train=train_prior, assumed=assumed)
    return PriorLedger(assumed=assumed, stated=stated, train=train_prior)


def _notes(data: Prepared, sizes: dict[str, int], *, folds: int, method: Method) -> tuple[str, ...]:
    """Notes for the user, one sentence each."""
    notes = (*data.notes, *class_notes(sizes, folds=folds).values())
    if method.temperature == "fit" and not folds:
        notes += (f"{method.name} fits its temperature out of fold: without folds it stays at 1",)
    return notes
