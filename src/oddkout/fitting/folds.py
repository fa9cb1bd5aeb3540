"""Cross-validation folds: who is scored by which network, and how good the scores are."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.calibrators import cross_fitted_temperature, fold_numbers
from oddkout.checks import at_least
from oddkout.fitting.requirements import fold_count
from oddkout.prior import PriorLedger
from oddkout.randomness import keyed_generator

FOLDS = 5

# Fold of an example that every network trains on and none is scored on.
UNSCORED = -1


@dataclass(frozen=True, kw_only=True)
class FoldScores:
    """Predictions for training examples by networks that did not see them.

    Attributes:
        logits: Logits of the networks; rows of examples that are never scored are 0.
        fold_of: Fold of every example, ``UNSCORED`` for examples that are never scored.
        temperature: The temperature fitted to these logits, after the prior was adjusted.
        metrics: NLL and accuracy with a temperature that is itself fitted on the other folds.
    """

    logits: Float[Tensor, "examples classes"]
    fold_of: Int[Tensor, " examples"]
    temperature: float
    metrics: dict[str, float]


def assigned_folds(
    y: Int[Tensor, " examples"], *, folds: int, seed: int
) -> Int[Tensor, " examples"] | None:
    """A fold for every example, each class spread evenly; None if nothing can be scored.

    A class of one example is in every training part and never scored, since a network that never
    saw a class says nothing about one that did. There are no more folds than scored examples.

    Args:
        y: Classes of the training examples.
        folds: Number of folds, from 2.
        seed: Key of the assignment.

    Example:
        >>> assigned_folds(torch.tensor([0, 1, 1]), folds=5, seed=0).tolist()
        [-1, 0, 1]
    """
    at_least("folds", folds, 2)
    sizes = y.bincount()
    is_scored = sizes[y] > 1
    count = fold_count(sizes.tolist(), folds=folds)
    if count == 0:
        return None
    fold_of = torch.full_like(y, UNSCORED)
    fold_of[is_scored] = fold_numbers(y[is_scored], folds=count, generator=keyed_generator(seed, 7))
    return fold_of


def fold_logits(
    y: Int[Tensor, " examples"],
    fold_of: Int[Tensor, " examples"],
    *,
    classes: int,
    predict: Callable[[int, Tensor, Tensor], Float[Tensor, "held classes"]],
) -> Float[Tensor, "examples classes"]:
    """Logits of every scored example by the network of its fold.

    Args:
        y: Classes of the training examples.
        fold_of: Fold of every example.
        classes: Number of classes.
        predict: Called with a fold, the examples to train on and those to predict, as masks.
    """
    logits = torch.zeros(len(y), classes)
    for fold in range(int(fold_of.max()) + 1):
        is_held = fold_of == fold
        logits[is_held] = predict(fold, ~is_held, is_held).to(logits.dtype)
    return logits


def scored_folds(
    logits: Float[Tensor, "examples classes"],
    y: Int[Tensor, " examples"],
    fold_of: Int[Tensor, " examples"],
    *,
    ledger: PriorLedger,
    is_balanced: bool,
) -> FoldScores:
    """Fit the temperature to out-of-fold logits and measure them.

    Args:
        logits: Logits of the networks.
        y: Classes of the training examples.
        fold_of: Fold of every example.
        ledger: The class frequencies that logits and probabilities are for.
        is_balanced: Whether all classes weigh the same, however many examples they have.
    """
    is_scored = fold_of != UNSCORED
    labels = y[is_scored]
    fit = cross_fitted_temperature(
        ledger.logits(logits[is_scored]), labels, folds=fold_of[is_scored], is_balanced=is_balanced
    )
    weight = torch.ones(len(labels), dtype=torch.float64)
    if is_balanced:
        weight = 1 / labels.bincount()[labels].double()
    weight = weight / weight.sum()
    nll = F.cross_entropy(fit.logits, labels, reduction="none")
    hits = (fit.logits.argmax(dim=1) == labels).double()
    return FoldScores(
        logits=logits,
        fold_of=fold_of,
        temperature=fit.calibrator.temperature.item(),
        metrics={"nll": (weight @ nll).item(), "accuracy": (weight @ hits).item()},
    )


def fold_seed(seed: int, fold: int) -> int:
    """A seed for the network of one fold, distinct from the seeds of whole runs."""
    return 1_000_003 * (seed + 1) + fold
