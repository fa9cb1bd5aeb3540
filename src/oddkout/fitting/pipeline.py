"""The fitting pipeline: train, predict out of fold, fit the temperature, adjust the prior."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from oddkout.checks import Number, few
from oddkout.fitting.compilation import training_operations
from oddkout.fitting.counter import UpdateCounter
from oddkout.fitting.folds import FoldScores, assigned_folds, fold_logits, fold_seed, scored_folds
from oddkout.fitting.methods import Method
from oddkout.fitting.preparation import Prepared
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.requirements import class_notes, refuse_few_classes
from oddkout.fitting.threads import suitable_threads
from oddkout.fitting.training import Progress, Trained, predict_logits, train
from oddkout.models import build_model
from oddkout.prior import PriorLedger, class_frequencies, uniform
from oddkout.randomness import keyed_generator, keyed_globals

# Class frequencies to evaluate for: those of the training part, or equal ones as in the paper,
# which corrects the logits of no method.
Population = Literal["train", "uniform"]


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A fitted network, its temperature and its out-of-fold predictions.

    Attributes:
        model: The network, trained on all training examples.
        method: The method it was trained with.
        recipe: The chosen recipe, including the learning rate.
        ledger: Class frequencies of the logits and the probabilities, with temperature 1; see
            ``calibrated`` and ``as_trained``.
        temperature: The temperature fitted out of fold; 1 without folds.
        scores: Out-of-fold predictions and their NLL; None without folds.
        log: The learning curve.
        notes: What a user should know about the fit, one sentence each.
        seconds: Duration of the final training and of the folds.
    """

    model: nn.Module
    method: Method
    recipe: Recipe
    ledger: PriorLedger
    temperature: float
    scores: FoldScores | None
    log: list[dict[str, Number]]
    notes: tuple[str, ...]
    seconds: dict[str, float]

    @property
    def own_temperature(self) -> Number:
        """The temperature that the method prescribes."""
        prescribed = self.method.temperature
        if prescribed == "fit":
            return self.temperature
        return 1.0 if prescribed == "none" else prescribed

    @property
    def calibrated(self) -> PriorLedger:
        """The ledger with the temperature fitted out of fold."""
        return replace(self.ledger, temperature=self.temperature)

    @property
    def as_trained(self) -> PriorLedger:
        """The ledger with the temperature that the method prescribes."""
        return replace(self.ledger, temperature=self.own_temperature)


def fit_network(
    data: Prepared,
    *,
    method: Method,
    recipes: Sequence[Recipe],
    folds: int,
    population: Population,
    seed: int,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> Fitted:
    """Fit a network: choose the recipe out of fold, train the network, fit its temperature.

    Args:
        data: The data; only the training part is used.
        method: The method to train with.
        recipes: Candidates; the one with the lowest out-of-fold NLL is used, the first on a tie.
        folds: Number of folds; each trains one more network per recipe. 0 for none.
        population: Class frequencies to evaluate for.
        seed: Seed of all randomness.
        checkpoint: File for the state of the final training, which resumes from it.
        progress: Called with the rows of all logs; ``done`` and ``total`` count all updates.
    """
    if len(recipes) > 1 and not folds:
        rates = [recipe.learning_rate for recipe in recipes]
        raise ValueError(
            f"choosing among {len(recipes)} recipes, learning rates {few(rates)}, needs folds, got "
            "folds=0; set folds to 5, or give one learning rate"
        )
    counts = data.y.bincount(minlength=len(data.classes)).tolist()
    sizes = dict(zip(data.classes, counts, strict=True))
    refuse_few_classes([name for name, size in sizes.items() if size], method)
    fold_of = assigned_folds(data.y, folds=folds, seed=seed) if folds else None
    counter = UpdateCounter(progress, total=_all_updates(recipes, fold_of))
    ledger = _ledger(data, method, population)
    began = time.perf_counter()
    scores: FoldScores | None = None
    recipe, notes = recipes[0], _notes(data, sizes, folds=folds, method=method)
    if fold_of is not None:
        recipe, scores, failures = _best_out_of_fold(
            data,
            recipes,
            method=method,
            fold_of=fold_of,
            ledger=ledger,
            is_balanced=population == "uniform",
            seed=seed,
            counter=counter,
        )
        notes += failures
    seconds = {"folds": time.perf_counter() - began}
    began = time.perf_counter()
    trained = train_network(
        data.x,
        data.y,
        recipe=recipe,
        method=method,
        classes=len(data.classes),
        seed=seed,
        checkpoint=checkpoint,
        progress=counter.next(recipe.updates),
    )
    seconds["train"] = time.perf_counter() - began
    return Fitted(
        model=trained.model,
        method=method,
        recipe=recipe,
        ledger=ledger,
        temperature=1.0 if scores is None else scores.temperature,
        scores=scores,
        log=trained.log,
        notes=notes,
        seconds=seconds,
    )


def _best_out_of_fold(
    data: Prepared,
    recipes: Sequence[Recipe],
    *,
    method: Method,
    fold_of: Tensor,
    ledger: PriorLedger,
    is_balanced: bool,
    seed: int,
    counter: UpdateCounter,
) -> tuple[Recipe, FoldScores, tuple[str, ...]]:
    """The recipe with the lowest out-of-fold NLL, its scores, and notes on recipes that failed."""
    scored: list[tuple[Recipe, FoldScores]] = []
    failures: list[ValueError] = []
    for recipe in recipes:
        try:
            logits = _predict_folds(data, recipe, method, fold_of, seed=seed, counter=counter)
        except ValueError as error:  # training with this learning rate diverged
            failures.append(error)
            continue
        scores = scored_folds(logits, data.y, fold_of, ledger=ledger, is_balanced=is_balanced)
        scored.append((recipe, scores))
    if not scored:
        raise failures[0]
    best, scores = min(scored, key=lambda pair: pair[1].metrics["nll"])
    return best, scores, tuple(f"a learning rate was left out: {error}" for error in failures)


def train_network(
    x: Float[Tensor, "examples ..."],
    y: Tensor,
    *,
    recipe: Recipe,
    method: Method,
    classes: int,
    seed: int,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Build the network of a recipe and train it.

    Args:
        x: Training examples, standardised.
        y: Their classes.
        seed: Seed of all randomness.
        checkpoint: File for the state of training, which resumes from it.
        progress: Called with each new row of the log.
    """
    with keyed_globals(seed, 0, device=torch.device("cpu")):  # for custom networks
        network = build_model(
            recipe.model,
            shape=tuple(x.shape[1:]),
            classes=classes,
            generator=keyed_generator(seed, 0),
            dropout=recipe.dropout,
        )
    _refuse_other_outputs(network, x, classes)
    operations = training_operations(network, x) * recipe.examples * recipe.updates
    with suitable_threads(operations):
        return train(
            network,
            x,
            y,
            method=method,
            classes=classes,
            seed=seed,
            checkpoint=checkpoint,
            progress=progress,
            **recipe.options,
        )


def _predict_folds(
    data: Prepared,
    recipe: Recipe,
    method: Method,
    fold_of: Tensor,
    *,
    seed: int,
    counter: UpdateCounter,
) -> Tensor:
    """Out-of-fold logits of a recipe.

    The networks of the folds see fewer examples, so they make proportionally fewer updates. With as
    many updates as the final network, they would be more confident than it, and the temperature
    would not fit.
    """
    shorter = fold_recipe(recipe, folds=int(fold_of.max()) + 1)

    def predict(fold: int, is_trained: Tensor, is_held: Tensor) -> Tensor:
        trained = train_network(
            data.x[is_trained],
            data.y[is_trained],
            recipe=shorter,
            method=method,
            classes=len(data.classes),
            seed=fold_seed(seed, fold),
            progress=counter.next(shorter.updates),
        )
        return predict_logits(trained.model, data.x[is_held])

    return fold_logits(data.y, fold_of, classes=len(data.classes), predict=predict)


def fold_recipe(recipe: Recipe, *, folds: int) -> Recipe:
    """The recipe for the networks of the folds: the same number of passes over fewer examples."""
    return replace(recipe, updates=max(1, round(recipe.updates * (1 - 1 / folds))))


def _all_updates(recipes: Sequence[Recipe], fold_of: Tensor | None) -> int:
    """Number of updates of the final network and of all folds of all recipes."""
    total = max(recipe.updates for recipe in recipes)
    if fold_of is None:
        return total
    folds = int(fold_of.max()) + 1
    return total + folds * sum(fold_recipe(recipe, folds=folds).updates for recipe in recipes)


def _ledger(data: Prepared, method: Method, population: Population) -> PriorLedger:
    """The class frequencies that a method assumes, and those it is evaluated for."""
    classes = len(data.classes)
    train_prior = tuple(class_frequencies(data.y, classes=classes).tolist())
    assumed = uniform(classes) if method.is_balanced else train_prior
    return PriorLedger(assumed=assumed, stated=train_prior if population == "train" else assumed)


def _notes(data: Prepared, sizes: dict[str, int], *, folds: int, method: Method) -> tuple[str, ...]:
    """Notes for the user, one sentence each."""
    notes = (*data.notes, *class_notes(sizes, folds=folds).values())
    if method.temperature == "fit" and not folds:
        notes += (f"{method.name} fits its temperature out of fold: without folds it stays at 1",)
    return notes


def _refuse_other_outputs(network: nn.Module, x: Tensor, classes: int) -> None:
    """Raise unless the network outputs one logit per class."""
    shape = tuple(predict_logits(network, x[:1]).shape)
    if shape != (1, classes):
        raise ValueError(
            f"the network must output a logit for each of {classes} classes, got logits of shape "
            f"{shape} for 1 example; let its function take classes= and use it for the last layer"
        )
