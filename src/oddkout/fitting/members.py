"""Members: one network per fold, trained without that fold, with snapshots to choose from."""

import multiprocessing as mp
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from oddkout.checks import Number
from oddkout.fitting.batched import can_batch, train_batched
from oddkout.fitting.compilation import training_operations
from oddkout.fitting.counter import UpdateCounter
from oddkout.fitting.folds import UNSCORED, fold_seed
from oddkout.fitting.methods import Method
from oddkout.fitting.networks import built_network, train_network, with_options
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.stops import suitable_stops
from oddkout.fitting.threads import suitable_threads
from oddkout.fitting.training import Progress, Trained, predict_logits, process_number
from oddkout.fitting.watch import FoldWatch
from oddkout.models.encodings import Encoding, EncodingPlan
from oddkout.models.forest import FOREST
from oddkout.workers import Died, Workers, cores

# Members are trained in several processes from this many floating-point operations on: about a
# minute. Processes take some seconds to start.
_WORTH_PROCESSES = 5e12


@dataclass(frozen=True, kw_only=True)
class Members:
    """Trained members, with out-of-fold logits after every stop.

    Attributes:
        stops: Shares of the updates.
        updates: Numbers of updates of a member, one per stop.
        trained: The members that did not fail.
        logits: Out-of-fold logits after each stop; 0 for examples that are never scored.
        fold_of: Fold of each example; ``UNSCORED`` also for the folds of failed members.
        failures: Why members failed, one sentence each.
    """

    stops: tuple[float, ...]
    updates: tuple[int, ...]
    trained: tuple[Trained, ...]
    logits: Float[Tensor, "stops examples classes"]
    fold_of: Int[Tensor, " examples"]
    failures: tuple[str, ...] = ()

    def networks(self, stop: int) -> list[nn.Module]:
        """The networks of all members as they were after a stop.

        Args:
            stop: Position in ``stops``.
        """
        for member in self.trained:
            member.model.load_state_dict(member.snapshots[self.updates[stop]])
        return [member.model.eval() for member in self.trained]

    @property
    def log(self) -> list[dict[str, Number]]:
        """The learning curve of the first member."""
        return self.trained[0].log


def train_members(
    x: Float[Tensor, "examples ..."],
    y: Int[Tensor, " examples"],
    *,
    recipe: Recipe,
    method: Method,
    classes: int,
    fold_of: Int[Tensor, " examples"],
    seed: int,
    counter: UpdateCounter,
    encoding: EncodingPlan | None = None,
    groups: Int[Tensor, " examples"] | None = None,
    watch: FoldWatch | None = None,
    checkpoints: Path | None = None,
    processes: int | None = None,
) -> Members:
    """Train a network without each fold, and predict the fold.

    The members see fewer examples, so they make proportionally fewer updates than a network that is
    trained on everything. If training a member fails, the others are used without it.

    Args:
        x: Training examples, standardised.
        y: Their classes.
        fold_of: Fold of each example, see ``assigned_folds``.
        seed: Seed of all randomness.
        counter: Counts the updates of all members.
        encoding: How networks see rows of features; each learns it from its own training rows.
        groups: Group of each example; pairs of sets are from different groups.
        watch: Chooses where to stop, if the networks can be trained together; its curve then has
            all possible stops, and only the best is kept.
        checkpoints: Folder for the states of the trainings, which resume from it.
        processes: Number of processes; by default all cores if training takes long, else one.
            Members are the same for any number.
    """
    folds = int(fold_of.max()) + 1
    shorter = member_recipe(recipe, fold_of)
    stops = suitable_stops(recipe, x, method=method, classes=classes, folds=folds)
    updates = tuple(max(1, round(stop * shorter.updates)) for stop in stops)
    training = _Training(
        x=x,
        y=y,
        is_held=[fold_of == fold for fold in range(folds)],
        seeds=[fold_seed(seed, fold) for fold in range(folds)],
        recipe=shorter,
        method=method,
        classes=classes,
        updates=updates,
        counter=counter,
        encoding=encoding,
        groups=groups,
        watch=watch,
        checkpoints=checkpoints,
        processes=processes,
    )
    results = training.results()
    if watch is not None and watch.curve:
        updates, stops = (watch.best,), (watch.best / shorter.updates,)
    trained: list[Trained] = []
    errors: list[ValueError] = []
    logits = torch.zeros(len(stops), len(y), classes)
    scored = fold_of.clone()
    for fold, member in enumerate(results):
        is_held = fold_of == fold
        if isinstance(member, ValueError):
            errors.append(member)
            scored[is_held] = UNSCORED
            continue
        for position, update in enumerate(updates):
            member.model.load_state_dict(member.snapshots[update])
            held = predict_logits(member.model, x[is_held])
            logits[position, is_held] = held.to(logits.dtype)
        trained.append(member)
    if not trained:
        raise errors[0]
    return Members(
        stops=stops,
        updates=updates,
        trained=tuple(trained),
        logits=logits,
        fold_of=scored,
        failures=tuple(
            f"{len(errors)} of {folds} members failed and are left out; their examples are not "
            f"scored: {error}"
            for error in errors[:1]
        ),
    )


@dataclass(frozen=True, kw_only=True)
class _Training:
    """The arguments of all trainings of members."""

    x: Tensor
    y: Tensor
    is_held: Sequence[Tensor]
    seeds: Sequence[int]
    recipe: Recipe
    method: Method
    classes: int
    updates: Sequence[int]
    counter: UpdateCounter
    encoding: EncodingPlan | None
    groups: Tensor | None
    watch: FoldWatch | None
    checkpoints: Path | None
    processes: int | None

    def results(self) -> list[Trained | ValueError]:
        """Each member, or why it failed. Small perceptrons are trained as one batched product."""
        if self.recipe.model == FOREST:
            return [_trained(self._item(number)) for number in range(len(self.seeds))]
        networks = [
            built_network(
                self.recipe,
                method=self.method,
                shape=tuple(self.x.shape[1:]),
                classes=self.classes,
                seed=seed,
                encoding=self._encoding(held),
            )
            for seed, held in zip(self.seeds, self.is_held, strict=True)
        ]
        is_worth = len(networks) > 1 or self.watch is not None
        if is_worth and can_batch(networks[0], self.recipe, self.method):
            return self._together(networks)
        items = [self._item(number) for number in range(len(networks))]
        operations = training_operations(networks[0], self.x) * self.recipe.examples
        processes = self._processes(operations * self.recipe.updates * len(networks))
        if processes == 1:
            return [
                _trained(item, progress=self.counter.next(self.recipe.updates)) for item in items
            ]
        results: dict[int, Trained | ValueError] = {}
        for number, result in Workers(_trained, processes=processes)(items):
            died = isinstance(result, Died)
            results[number] = ValueError(f"member {number}: {result.cause}") if died else result
            progress = self.counter.next(self.recipe.updates)
            if progress is not None and isinstance(result, Trained):
                progress(result.log[-1])
        return [results[number] for number in range(len(items))]

    def _encoding(self, is_held: Tensor) -> Encoding | None:
        """The encoding of one member, learned without the examples that it will predict."""
        return None if self.encoding is None else Encoding(self.encoding).fit(self.x[~is_held])

    def _processes(self, operations: int) -> int:
        """Number of processes: as requested, or all cores if there is enough to compute."""
        most = min(len(self.seeds), self.processes or cores())
        is_sent = isinstance(self.recipe.model, str) and process_number() == (0, 1)
        is_long = self.processes is not None or operations >= _WORTH_PROCESSES
        return most if is_sent and is_long and not mp.current_process().daemon else 1

    def _together(self, networks: list[nn.Module]) -> list[Trained | ValueError]:
        """Train all members at once."""
        members, updates = len(networks), self.recipe.updates
        operations = training_operations(networks[0], self.x) * self.recipe.examples * updates
        with suitable_threads(operations * members):
            return train_batched(
                networks,
                self.x,
                self.y,
                is_trained=[~held for held in self.is_held],
                seeds=self.seeds,
                recipe=self.recipe,
                method=with_options(self.method, self.recipe),
                classes=self.classes,
                stops=self.updates,
                groups=self.groups,
                watch=self.watch,
                progress=self.counter.next(members * updates, factor=members),
            )

    def _item(self, number: int) -> dict[str, Any]:
        """The arguments of ``train_network`` for one member; it has a checkpoint of its own."""
        is_trained, folder = ~self.is_held[number], self.checkpoints
        return {
            "x": self.x[is_trained],
            "y": self.y[is_trained],
            "recipe": self.recipe,
            "method": self.method,
            "classes": self.classes,
            "encoding": self.encoding,
            "groups": None if self.groups is None else self.groups[is_trained],
            "stops": self.updates,
            "seed": self.seeds[number],
            "checkpoint": None if folder is None else folder / f"{number}.safetensors",
        }


def _trained(item: dict[str, Any], progress: Progress | None = None) -> Trained | ValueError:
    """A trained member, or the error if its training diverged."""
    try:
        return train_network(**item, progress=progress)
    except ValueError as error:
        return error


def member_recipe(recipe: Recipe, fold_of: Int[Tensor, " examples"]) -> Recipe:
    """The recipe of the members: the same number of passes over fewer examples."""
    folds = int(fold_of.max()) + 1
    is_scored = fold_of != UNSCORED
    share = 1 - is_scored.double().mean().item() / folds
    return replace(recipe, updates=max(1, round(recipe.updates * share)))
