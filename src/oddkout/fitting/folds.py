"""Cross-validation folds: assignment, and the scores of out-of-fold predictions."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.calibrators import Calibrator, cross_fitted, fold_numbers
from oddkout.calibrators.temperature import example_weights
from oddkout.checks import at_least, one_of
from oddkout.data.splits import grouped_parts
from oddkout.fitting.requirements import fold_count
from oddkout.fitting.threads import suitable_threads
from oddkout.prior import Frequencies, PriorLedger
from oddkout.randomness import keyed_generator

FOLDS = 5

# What is fitted to out-of-fold logits: temperature and strength of prior adjustment, the
# temperature alone, or nothing.
Calibration = Literal["folds", "temperature", "none"]

# Fold number of examples that are in every training part and never scored.
UNSCORED = -1

# With more examples than this, one part of the data is held out instead of five folds: it is large
# enough to choose and to calibrate, and five networks would take five times as long.
_MANY = 10_000
_HELD_SHARE = 0.1
# Folds of the method ``tables``, up to a number of examples.
_TABLE_FOLDS = ((10_000, 8), (50_000, 4))
# Operations of fitting a temperature, for each logit.
_CALIBRATION_OPERATIONS = 1000
# Parts of the held-out examples, for an unbiased score of the calibration.
_PARTS = 5


@dataclass(frozen=True, kw_only=True)
class FoldScores:
    """Out-of-fold predictions: of training examples by networks that did not see them.

    Attributes:
        logits: Logits of the networks; 0 for examples that are never scored.
        calibrated: The same after calibration, each fold with one fitted to the other folds.
        fold_of: Fold of each example; ``UNSCORED`` for examples that are never scored.
        ledger: The ledger with temperature and strength fitted to these logits.
        metrics: NLL and accuracy, each fold with a calibration fitted to the other folds.
    """

    logits: Float[Tensor, "examples classes"]
    calibrated: Float[Tensor, "examples classes"]
    fold_of: Int[Tensor, " examples"]
    ledger: PriorLedger
    metrics: dict[str, float]


def suitable_folds(examples: int, *, is_table: bool = False) -> int:
    """Default number of folds: five; for large data one part is held out instead.

    Args:
        examples: Number of training examples.
        is_table: Whether for the small networks of the method ``tables``: eight, and fewer for
            large data.

    Example:
        >>> suitable_folds(200), suitable_folds(60_000), suitable_folds(200, is_table=True)
        (5, 1, 8)
    """
    if is_table:
        return next((folds for most, folds in _TABLE_FOLDS if examples <= most), 1)
    return FOLDS if examples <= _MANY else 1


def assigned_folds(
    y: Int[Tensor, " examples"],
    *,
    folds: int,
    seed: int,
    groups: Int[Tensor, " examples"] | None = None,
) -> Int[Tensor, " examples"] | None:
    """Assign each example to a fold, stratified by class; None if nothing can be scored.

    A class with one example is in every training part and never scored: a network that never saw
    the class cannot predict it. There are at most as many folds as scored examples. One fold is a
    tenth of each class, which is held out; all other examples are never scored.

    Args:
        y: Classes of the training examples.
        folds: Number of folds, at least 1.
        seed: Seed of the assignment.
        groups: Group of each example; a fold holds whole groups. The only group of a class is in
            every training part and never scored.

    Example:
        >>> assigned_folds(torch.tensor([0, 1, 1]), folds=5, seed=0).tolist()
        [-1, 0, 1]
    """
    at_least("folds", folds, 1)
    if groups is not None:
        return _grouped_folds(y, groups, folds=folds, seed=seed)
    sizes = y.bincount()
    is_scored = sizes[y] > 1
    count = fold_count(sizes.tolist(), folds=max(folds, 2))
    if count == 0:
        return None
    generator = keyed_generator(seed, 7)
    fold_of = torch.full_like(y, UNSCORED)
    if folds > 1:
        fold_of[is_scored] = fold_numbers(y[is_scored], folds=count, generator=generator)
        return fold_of
    order = torch.randperm(len(y), generator=generator)
    for label in sizes.nonzero().flatten().tolist():
        members = order[(y[order] == label) & is_scored[order]]
        fold_of[members[: round(_HELD_SHARE * len(members))]] = 0
    if (fold_of == UNSCORED).all():  # every class is small: hold out one example of the largest
        fold_of[order[y[order] == int(sizes.argmax())][0]] = 0
    return fold_of


def _grouped_folds(
    y: Int[Tensor, " examples"], groups: Int[Tensor, " examples"], *, folds: int, seed: int
) -> Int[Tensor, " examples"] | None:
    """Folds of whole groups; None if fewer than two groups can be scored."""
    is_scored = torch.ones_like(y, dtype=torch.bool)
    for label in y.unique().tolist():  # type: ignore[no-untyped-call]  # untyped in PyTorch
        own = groups[y == label]
        if (own == own[0]).all():
            is_scored[groups == own[0]] = False
    scored = groups[is_scored]
    count = min(folds if folds > 1 else 2, len(scored.unique()))  # type: ignore[no-untyped-call]
    if count < 2:
        return None
    shares = [1 / count] * count if folds > 1 else [_HELD_SHARE, 1 - _HELD_SHARE]
    parts = torch.from_numpy(grouped_parts(y[is_scored], scored, shares=shares, seed=seed))
    fold_of = torch.full_like(y, UNSCORED)
    fold_of[is_scored] = parts
    if folds == 1:
        fold_of[fold_of > 0] = UNSCORED
    for fold in range(int(fold_of.max()) + 1):  # every class must stay in every training part
        for label in y.unique().tolist():  # type: ignore[no-untyped-call]  # untyped in PyTorch
            if (fold_of[y == label] == fold).all():
                fold_of[torch.isin(groups, groups[y == label])] = UNSCORED
    is_scored = fold_of != UNSCORED
    if not is_scored.any():
        return None
    _, numbers = torch.unique(fold_of[is_scored], return_inverse=True)  # no fold is empty
    fold_of[is_scored] = numbers
    return fold_of


def fitted_ledger(
    ledger: PriorLedger,
    logits: Float[Tensor, "examples classes"],
    y: Int[Tensor, " examples"],
    *,
    calibration: Calibration,
    judged: Frequencies | None,
) -> PriorLedger:
    """The ledger with temperature and strength fitted to held-out logits.

    Args:
        ledger: Class frequencies of the logits and of the probabilities.
        logits: Logits of examples that the networks did not see.
        y: Their classes.
        calibration: What to fit.
        judged: Class frequencies to judge for; None for those of the examples.
    """
    one_of("calibrate", calibration, get_args(Calibration))
    if calibration == "none":
        return ledger
    with suitable_threads(_CALIBRATION_OPERATIONS * logits.numel()):
        fit = ledger.calibrator.fit(logits, y, prior=judged, has_strength=calibration == "folds")
    return replace(ledger, temperature=fit.temperature.item(), strength=fit.strength.item())


def scored_folds(
    logits: Float[Tensor, "examples classes"],
    y: Int[Tensor, " examples"],
    fold_of: Int[Tensor, " examples"],
    *,
    ledger: PriorLedger,
    calibration: Calibration,
    judged: Frequencies | None,
) -> FoldScores:
    """Calibrate out-of-fold logits and evaluate them.

    Args:
        logits: Out-of-fold logits.
        y: Classes of the training examples.
        fold_of: Fold of each example.
        ledger: Class frequencies of the logits and of the probabilities.
        calibration: What to fit.
        judged: Class frequencies to judge for; None for those of the examples.
    """
    is_scored = fold_of != UNSCORED
    held, labels, folds = logits[is_scored], y[is_scored], fold_of[is_scored]

    def fit(rows: Tensor, classes: Tensor) -> Calibrator:
        return fitted_ledger(
            ledger, rows, classes, calibration=calibration, judged=judged
        ).calibrator

    if len(labels) > 1:
        calibrated = cross_fitted(fit, held, labels, folds=scoring_parts(folds)).logits
    else:
        calibrated = ledger.logits(held.double())
    weight = example_weights(labels, judged)
    nll = F.cross_entropy(calibrated, labels, reduction="none")
    hits = (calibrated.argmax(dim=1) == labels).double()
    everything = torch.zeros(len(y), logits.shape[1], dtype=calibrated.dtype)
    everything[is_scored] = calibrated
    return FoldScores(
        logits=logits,
        calibrated=everything,
        fold_of=fold_of,
        ledger=fitted_ledger(ledger, held, labels, calibration=calibration, judged=judged),
        metrics={"nll": (weight @ nll).item(), "accuracy": (weight @ hits).item()},
    )


def scoring_parts(folds: Int[Tensor, " scored"]) -> Int[Tensor, " scored"]:
    """Parts of the scored examples, each scored by what is fitted to the others.

    The parts are the folds. A single held-out part is divided, so that no example fits itself.

    Args:
        folds: Fold of each scored example.
    """
    if int(folds.max()) > 0:
        return folds
    count = len(folds)
    parts = torch.randperm(count, generator=torch.Generator().manual_seed(0)) % _PARTS
    return parts if count >= _PARTS else torch.arange(count)


def fold_seed(seed: int, fold: int) -> int:
    """Seed for the network of one fold, different from the seeds of final networks."""
    return 1_000_003 * (seed + 1) + fold
