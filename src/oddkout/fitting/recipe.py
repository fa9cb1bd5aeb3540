"""How a classifier is trained, method apart: one recipe for all of them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import harmonic_mean
from typing import Any, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.calibrators import fold_numbers
from oddkout.checks import Number, at_least
from oddkout.fitting.methods import Method
from oddkout.fitting.training import Progress, Trained, train
from oddkout.models import build_model
from oddkout.randomness import keyed_generator

# Examples of a class for which the defaults were found.
_FEW = 10

# Folds of an out-of-fold temperature.
FOLDS = 5


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All that training is told, beside data, method and seed; the defaults are `docs/recipe.md`'s.

    The defaults are for ten examples of a class; what more of them ask for, ``suited_to`` says.

    Attributes:
        model: Name of the network, see ``build_model``.
        dropout: Share of its last features that training drops.
        updates: Number of updates, the same for every method.
        examples: Number of examples in an update, the same for every method.
        sets: Number of sets in an update, for methods that draw some.
        layout: Whether sets are drawn in a ``"pool"`` or as in the ``"paper"``, see ``Objective``.
        learning_rate: Highest learning rate.
        optimiser: ``"sgd"`` or ``"adamw"``.
        momentum: Momentum of SGD.
        weight_decay: L2 on weights.
        warm_up: Share of the updates in which the learning rate rises.
        clip_norm: Largest norm of the gradient.
        clip_value: Largest absolute value of an entry of the gradient.
        head_weight: Weight of a second head's loss at the beginning.
        head_until: Share of the updates after which it is 0; 0 keeps it constant.
        averaging: Decay of a moving average of the weights.
        shift: Images: largest shift in pixels.
        flip: Images: whether they are mirrored at random.
        crop: Images: largest share of height and width that is cut off.
        compiled: Whether the model is compiled; if not given, when it repays.
        mixed_precision: Whether it computes in bfloat16; if not given, on GPUs that can.
    """

    model: str = "auto"
    dropout: Number = 0.3
    updates: int = 600
    examples: int = 20
    sets: int = 256
    layout: Literal["pool", "paper"] = "pool"
    learning_rate: Number = 0.2
    optimiser: Literal["sgd", "adamw"] = "sgd"
    momentum: Number = 0.9
    weight_decay: Number = 2e-3
    warm_up: Number = 0.05
    clip_norm: Number | None = 1.0
    clip_value: Number | None = None
    head_weight: Number = 2.0
    head_until: Number = 0.6
    averaging: Number | None = None
    shift: int = 0
    flip: bool = False
    crop: Number = 0.0
    compiled: bool | None = None
    mixed_precision: bool | None = None

    def train(
        self,
        x: Float[Tensor, "examples ..."],
        y: Int[Tensor, " examples"],
        *,
        method: Method,
        classes: int,
        seed: int,
        validation: tuple[Tensor, Tensor] | None = None,
        checkpoint: Path | None = None,
        progress: Progress | None = None,
    ) -> Trained:
        """Build the network and train it.

        Args:
            x: Training examples, standardised.
            y: Their classes.
            method: The method.
            classes: Number of classes.
            seed: Key of all randomness.
            validation: Examples and classes to choose the best state by.
            checkpoint: File to keep the state of training in.
            progress: Called with every new row of the log.
        """
        network = build_model(
            self.model,
            shape=tuple(x.shape[1:]),
            classes=classes,
            generator=keyed_generator(seed, 0),
            dropout=self.dropout,
        )
        told = {field.name: getattr(self, field.name) for field in fields(Recipe)}
        del told["model"], told["dropout"]  # these went into the network
        return train(
            network,
            x,
            y,
            method=method,
            classes=classes,
            seed=seed,
            singletons="repeat",  # a class of one example is learnt all the same
            validation=validation,
            checkpoint=checkpoint,
            progress=progress,
            **told,
        )

    def out_of_fold_logits(
        self,
        x: Float[Tensor, "examples ..."],
        y: Int[Tensor, " examples"],
        *,
        folds: Int[Tensor, " examples"],
        method: Method,
        classes: int,
        seed: int,
    ) -> Float[Tensor, "examples classes"]:
        """Logits of every training example by a model that was trained without its fold.

        These models pass over their examples as often as one that is trained on all of them: they
        make fewer updates. With as many, they would be surer of themselves than the model whose
        temperature they stand in for, and cost more.

        Args:
            x: Training examples, standardised.
            y: Their classes.
            folds: The fold of every example, see ``folds_for``.
            method: The method; a temperature that it fits afterwards is left out.
            classes: Number of classes.
            seed: Key of all randomness.
        """
        logits = torch.empty(len(y), classes)
        untempered = replace(method, temperature="none")
        count = int(folds.max()) + 1
        shorter = replace(self, updates=max(1, round(self.updates * (1 - 1 / count))))
        for number in range(count):
            is_own = folds == number
            # The fold is part of the key: a fold's first weights are not those of another.
            trained = shorter.train(
                x[~is_own],
                y[~is_own],
                method=untempered,
                classes=classes,
                seed=_fold_seed(seed, number),
            )
            logits[is_own] = trained.predict_logits(x[is_own])
        return logits


def suited_to(class_sizes: Iterable[Number]) -> dict[str, Any]:
    """The parts of the recipe that depend on how many examples there are to learn from.

    Weight decay and the second head stand for prior knowledge: against the mean loss it counts the
    less, the more examples there are. How many that is, the rare classes say: the harmonic mean,
    which is what the variance of a mean over balanced classes depends on. Up to ten examples of a
    class these are the defaults of ``Recipe``; with more, there is more to fit, too.

    Args:
        class_sizes: Number of examples of every class; those without any have no say.

    Example:
        >>> suited_to([20, 20])
        {'updates': 1200, 'weight_decay': 0.001, 'head_weight': 1.0}
        >>> suited_to([1000, 5]) == suited_to([5, 5])
        True
    """
    mean = harmonic_mean([size for size in class_sizes if size > 0])
    ratio = max(1.0, round(mean / _FEW, 2))
    return {
        "updates": round(Recipe.updates * min(2, ratio)),
        "weight_decay": Recipe.weight_decay / ratio,
        "head_weight": Recipe.head_weight / ratio,
    }


def folds_for(
    y: Int[Tensor, " examples"], *, folds: int, seed: int
) -> Int[Tensor, " examples"] | None:
    """The fold of every example; none if a class is so small that some fold leaves it no pair.

    Args:
        y: Classes of the training examples.
        folds: Number of folds.
        seed: Key of the folds.
    """
    at_least("folds", folds, 2)
    counts = y.bincount()
    smallest = int(counts[counts > 0].min())
    if len(y) < folds or smallest - math.ceil(smallest / folds) < 2:
        return None
    return fold_numbers(y, folds=folds, generator=keyed_generator(seed, 7))


def _fold_seed(seed: int, fold: int) -> int:
    """A seed for the model of one fold, apart from those of whole runs."""
    return 1_000_003 * (seed + 1) + fold
