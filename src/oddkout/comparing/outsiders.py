"""Fit a contestant that is not ours: the same folds, the same calibration out of fold."""

import faulthandler
import multiprocessing as mp
import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float, Shaped
from numpy import ndarray
from torch import Tensor

from oddkout.checks import Number
from oddkout.comparing.contestants import unfitted
from oddkout.fitting.folds import Calibration, FoldScores, assigned_folds, scored_folds
from oddkout.fitting.preparation import Prepared
from oddkout.models.foreign import ForeignModel, log_probabilities
from oddkout.prior import (
    Population,
    PriorLedger,
    class_frequencies,
    judged_prior,
    stated_prior,
)

# Share of the time limit, and least seconds, after which a process that does not react is killed.
_GRACE, _LEAST_GRACE = 0.1, 1.0


@dataclass(frozen=True, kw_only=True)
class FittedOutsider:
    """A fitted classifier of another library.

    Attributes:
        model: The classifier, fitted to the whole training part.
        ledger: Class frequencies of its log-probabilities.
        calibrated: The ledger with what was fitted out of fold.
        scores: Calibration and out-of-fold predictions; None without folds.
        test_logits: Log-probabilities of the test part.
        notes: What a user should know, one sentence each.
        seconds: Duration of the folds and of the final fit.
    """

    model: ForeignModel
    ledger: PriorLedger
    calibrated: PriorLedger
    scores: FoldScores | None
    test_logits: Float[Tensor, "test classes"]
    notes: tuple[str, ...]
    seconds: dict[str, float]


def fit_outsider(
    data: Prepared,
    *,
    name: str,
    estimator: Any,
    folds: int,
    calibration: Calibration,
    population: Population,
    seed: int,
    is_raw: bool = False,
) -> FittedOutsider:
    """Fit a classifier without each fold, calibrate it, and fit it to everything.

    Args:
        data: The data; features are encoded and standardised as for our methods.
        name: Name of the contestant.
        estimator: The user's classifier; None if it is made by its name.
        folds: Number of folds; 0 for none, then nothing is calibrated.
        calibration: What to fit out of fold.
        population: Class frequencies to evaluate for.
        seed: Seed of folds and classifier.
        is_raw: Whether the classifier gets the columns of the table as a frame, before they are
            encoded.
    """
    classes = len(data.classes)
    x, x_test = _inputs(data, is_raw=is_raw)
    y = data.y.numpy()
    prior = tuple(class_frequencies(data.y, classes=classes).tolist())
    judged = judged_prior(population, classes=classes)
    stated = stated_prior(population, train=prior, assumed=prior)
    ledger = PriorLedger(assumed=prior, stated=stated, train=prior)
    target = ledger if judged is None else replace(ledger, stated=judged)
    began = time.perf_counter()
    scores = None
    fold_of = assigned_folds(data.y, folds=folds, seed=seed, groups=data.groups) if folds else None
    if fold_of is not None:
        logits = torch.zeros(len(y), classes)
        for fold in range(int(fold_of.max()) + 1):
            is_held = (fold_of == fold).numpy()  # selects rows of arrays and of frames
            part = _fitted(unfitted(name, estimator, seed=seed), x[~is_held], y[~is_held])
            logits[is_held] = log_probabilities(part, x[is_held], classes=classes).float()
        scores = scored_folds(
            logits,
            data.y,
            fold_of,
            ledger=target,
            calibration=calibration,
            judged=judged,
        )
    seconds = {"folds": time.perf_counter() - began}
    began = time.perf_counter()
    fitted = _fitted(unfitted(name, estimator, seed=seed), x, y)
    seconds["train"] = time.perf_counter() - began
    return FittedOutsider(
        model=ForeignModel(fitted, classes=classes),
        ledger=ledger,
        calibrated=target if scores is None else scores.ledger,
        scores=scores,
        test_logits=log_probabilities(fitted, x_test, classes=classes).float(),
        notes=data.notes,
        seconds=seconds,
    )


def _inputs(data: Prepared, *, is_raw: bool) -> tuple[Any, Any]:
    """Training and test examples for a classifier: rows of numbers, or frames if it wants them."""
    if not is_raw:
        return data.x.flatten(1).double().numpy(), data.x_test.flatten(1).double().numpy()
    if data.raw is None:
        raise ValueError(
            "raw columns are those of a table, but the data are arrays or images; leave raw out"
        )
    return data.raw, data.raw_test


def _fitted(estimator: Any, x: Any, y: Shaped[ndarray, " _"]) -> Any:
    """The classifier, fitted; warnings of other libraries are for their own users."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(x, y)
    return estimator


@contextmanager
def time_limit(seconds: Number | None) -> Iterator[None]:
    """Raise if the block takes longer than a limit.

    Compiled code is not interrupted before it returns. In a worker process, the process is killed
    some seconds later if it does not return; the executor notices.

    Args:
        seconds: The limit; None for none.
    """
    is_possible = hasattr(signal, "SIGALRM") and (
        threading.current_thread() is threading.main_thread()
    )
    if seconds is None or not is_possible:
        yield
        return

    def interrupt(*_: object) -> None:
        raise TimeoutError(too_slow(seconds))

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    with open(os.devnull, "w") as nowhere:
        if mp.parent_process() is not None:
            # A timer in C, which works even while compiled code holds the interpreter.
            grace = max(_GRACE * seconds, _LEAST_GRACE)
            faulthandler.dump_traceback_later(seconds + grace, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def too_slow(seconds: Number) -> str:
    """Why a contestant failed that exceeded its time limit."""
    return f"it took longer than the limit of {seconds:g} seconds"
