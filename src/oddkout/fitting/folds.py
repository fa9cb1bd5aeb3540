"""Cross-validation folds: assignment, out-of-fold predictions and their scores."""

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

# Fold number of examples that are in every training part and never scored.
UNSCORED = -1


@dataclass(frozen=True, kw_only=True)
class FoldScores:
    """Out-of-fold predictions: of training examples by networks that did not see them.

    Attributes:
        logits: Logits of the networks; 0 for examples that are never scored.
        fold_of: Fold of each example; ``UNSCORED`` for examples that are never scored.
        temperature: Temperature fitted to these logits, after conversion to the stated prior.
        metrics: NLL and accuracy, each fold with a temperature fitted on the other folds.
    """

    logits: Float[Tensor, "examples classes"]
    fold_of: Int[Tensor, " examples"]
    temperature: float
    metrics: dict[str, float]


def assigned_folds(
    y: Int[Tensor, " examples"], *, folds: int, seed: int
) -> Int[Tensor, " examples"] | None:
    """Assign each example to a fold, stratified by class; None if nothing can be scored.

    A class with one example is in every training part and never scored: a network that never saw
    the class cannot predict it. There are at most as many folds as scored examples.

    Args:
        y: Classes of the training examples.
        folds: Number of folds, at least 2.
        seed: Seed of the assignment.

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
    """Out-of-fold logits; 0 for examples that are never scored.

    Args:
        y: Classes of the training examples.
        fold_of: Fold of each example, see ``assigned_folds``.
        classes: Number of classes.
        predict: Called with a fold number and two masks: the examples to train on and those to
            predict. Returns the logits of the latter.
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
    """Fit the temperature to out-of-fold logits and evaluate them.

    Args:
        logits: Out-of-fold logits, see ``fold_logits``.
        y: Classes of the training examples.
        fold_of: Fold of each example.
        ledger: Class frequencies of the logits and of the probabilities.
        is_balanced: Whether to give all classes the same weight, whatever their size.
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
    """Seed for the network of one fold, different from the seeds of final networks."""
    return 1_000_003 * (seed + 1) + fold
