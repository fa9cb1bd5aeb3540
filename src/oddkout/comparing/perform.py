"""Performing runs: data, training, out-of-fold temperature, evaluation; the same everywhere."""

import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from oddkout.calibrators import PriorCorrection, cross_fitted_temperature
from oddkout.checks import Number
from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run, failed_runs
from oddkout.data import KNOWN, Data, as_tensor, last_split, load_data, subset
from oddkout.evaluation import evaluate
from oddkout.fitting.classifier import standardised
from oddkout.fitting.recipe import folds_for, suited_to
from oddkout.models import build_model
from oddkout.version import versions

# The data sets of the paper, which keeps the last fifth of their training data for validation.
_PAPER_DATA = frozenset(KNOWN) - {"digits"}


def perform(configs: Sequence[RunConfig]) -> list[Run]:
    """Run configs that differ only in what comes after training, training once.

    What goes wrong becomes the reason of the runs, never an exception: a grid goes on.

    Args:
        configs: Configs that agree in ``training``.
    """
    torch.set_num_threads(1)
    began_cpu = time.process_time()
    try:
        prepared = prepared_for(configs[0])
        began = time.perf_counter()
        trained = _trained(configs[0], prepared)
        seconds = {"train": time.perf_counter() - began}
        began = time.perf_counter()
        folds = _out_of_fold(configs[0], prepared)
        seconds["folds"] = time.perf_counter() - began
        runs = [_evaluated(config, prepared, trained, folds, seconds) for config in configs]
        for run in runs:
            run.seconds["cpu"] = time.process_time() - began_cpu
        return runs
    except (ValueError, OSError) as error:
        return failed_runs(configs, str(error) or type(error).__name__)
    except Exception as error:  # a bug or want of memory: whoever reads it needs to know where
        named = f"{type(error).__name__}: {error}"
        return failed_runs(configs, f"{named}\n{traceback.format_exc()}")


def check(config: RunConfig) -> None:
    """Raise what is wrong with the data or the model of a setting, before a grid fails run by run.

    Args:
        config: A run of the grid.
    """
    prepared = prepared_for(config)
    build_model(
        config.model,
        shape=tuple(prepared.x.shape[1:]),
        classes=len(prepared.classes),
        generator=torch.Generator(),
        dropout=config.dropout,
    )


@dataclass(frozen=True)
class Prepared:
    """The arrays of a run: both parts standardised by the training examples."""

    x: Tensor
    y: Tensor
    x_test: Tensor
    y_test: Tensor
    classes: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def counts(self) -> Tensor:
        """Number of training examples of every class."""
        return self.y.bincount(minlength=len(self.classes))


@lru_cache(maxsize=1)
def _loaded(
    data: str,
    fingerprint: str,
    target: str | None,
    test: str | None,
    test_size: Number,
    image_size: int | None,
    categorical: tuple[str, ...],
    seed: int,
) -> Data:
    """The data, kept for the next run on the same."""
    return load_data(
        data,
        target=target,
        test=test,
        test_size=test_size,
        image_size=image_size,
        categorical=categorical,
        seed=seed,
    )


def data_for(config: RunConfig) -> Data:
    """Load and choose what a run trains on and is tested on.

    Args:
        config: The run.
    """
    is_known = config.data in KNOWN
    data = _loaded(
        config.data,
        config.fingerprint,
        config.target,
        config.test,
        config.test_size,
        config.image_size,
        config.categorical,
        0 if is_known or config.test is not None else config.seed,
    )
    if config.data not in _PAPER_DATA and config.distribution == "all":
        return data
    chosen = np.arange(len(data.y_train))
    if config.data in _PAPER_DATA:
        chosen, _ = last_split(len(data.y_train))
    if config.distribution != "all":
        chosen = chosen[
            subset(
                data.y_train[chosen],
                examples=config.train_examples,
                distribution=config.distribution,
                seed=config.seed,
            )
        ]
    return replace(data, x_train=np.asarray(data.x_train[chosen]), y_train=data.y_train[chosen])


def suited(config: RunConfig) -> RunConfig:
    """The config with the parts of the recipe that its number of examples asks for.

    Args:
        config: The run.
    """
    return replace(config, **suited_to(data_for(config).class_sizes))


def prepared_for(config: RunConfig) -> Prepared:
    """The data of a run, standardised.

    Args:
        config: The run.
    """
    data = data_for(config)
    x = as_tensor(np.asarray(data.x_train[:]))
    x_test = as_tensor(np.asarray(data.x_test[:]))
    if x.ndim == 4:  # tables are standardised by their encoder
        axes = (0, 2, 3)
        constants = {
            "mean": x.mean(dim=axes).tolist(),
            "deviation": x.std(dim=axes).clamp_min(1e-6).tolist(),
        }
        x, x_test = standardised(x, **constants), standardised(x_test, **constants)
    return Prepared(
        x,
        torch.from_numpy(data.y_train),
        x_test,
        torch.from_numpy(data.y_test),
        data.classes,
        data.notes,
    )


def _trained(config: RunConfig, prepared: Prepared) -> tuple[Tensor, list[dict[str, Any]]]:
    """Test logits of a model trained on everything, without a temperature; and its log."""
    trained = config.train(
        prepared.x,
        prepared.y,
        method=replace(config.how, temperature="none"),
        classes=len(prepared.classes),
        seed=config.seed,
    )
    logits = trained.predict_logits(prepared.x_test)
    return _for_population(config, prepared, logits), trained.log


def _out_of_fold(config: RunConfig, prepared: Prepared) -> tuple[Tensor, Tensor] | None:
    """Out-of-fold logits and the fold of every example, if there are to be and can be any."""
    if config.folds == 0:
        return None
    numbers = folds_for(prepared.y, folds=config.folds, seed=config.seed)
    if numbers is None:
        return None
    logits = config.out_of_fold_logits(
        prepared.x,
        prepared.y,
        folds=numbers,
        method=config.how,
        classes=len(prepared.classes),
        seed=config.seed,
    )
    return _for_population(config, prepared, logits), numbers


def _for_population(config: RunConfig, prepared: Prepared, logits: Tensor) -> Tensor:
    """Logits for the class frequencies of the population; balanced training knows equal ones."""
    if config.population == "uniform" or not config.how.is_balanced:
        return logits
    counts = prepared.counts.double().clamp_min(0.5)
    corrected: Tensor = PriorCorrection(counts / counts.sum())(logits)
    return corrected


def _cross_fitted(
    logits: Tensor, folds: Tensor, labels: Tensor, *, is_balanced: bool
) -> tuple[float, dict[str, float]]:
    """The out-of-fold temperature, and how good out-of-fold predictions are with it."""
    fit = cross_fitted_temperature(logits, labels, folds=folds, is_balanced=is_balanced)
    weight = torch.ones(len(labels), dtype=torch.float64)
    if is_balanced:
        weight = 1 / labels.bincount()[labels].double()
    weight = weight / weight.sum()
    nll = F.cross_entropy(fit.logits, labels, reduction="none")
    hits = (fit.logits.argmax(dim=1) == labels).double()
    found = {"nll": (weight @ nll).item(), "accuracy": (weight @ hits).item()}
    return fit.calibrator.temperature.item(), found


def _evaluated(
    config: RunConfig,
    prepared: Prepared,
    trained: tuple[Tensor, list[dict[str, Any]]],
    folds: tuple[Tensor, Tensor] | None,
    seconds: dict[str, float],
) -> Run:
    began = time.perf_counter()
    logits, log = trained
    notes = list(prepared.notes)
    temperature = 1.0
    out_of_fold: dict[str, float] = {}
    is_balanced = config.population == "uniform"
    if folds is not None:
        temperature, out_of_fold = _cross_fitted(*folds, prepared.y, is_balanced=is_balanced)
    elif config.folds:
        notes.append("the smallest class is too small for folds: the temperature is left at 1")
    fixed = config.how.temperature
    if fixed == "fit" and not config.folds:
        notes.append("without folds there is nothing to fit the temperature on: it is left at 1")
    if fixed == "fit":
        logits = logits / temperature  # what this method is: its temperature is part of it
    elif isinstance(fixed, float | int):
        logits = logits / fixed
    tempered = logits if fixed == "fit" else trained[0] / temperature
    as_trained = _measured(logits, prepared.y_test)
    is_same = torch.equal(tempered, logits)  # most runs of a grid have no folds
    return Run(
        config=config,
        classes=prepared.classes,
        train_counts=prepared.counts.tolist(),
        temperature=temperature,
        out_of_fold=out_of_fold,
        as_trained=as_trained,
        tempered=as_trained if is_same else _measured(tempered, prepared.y_test),
        log=log,
        seconds=seconds | {"evaluate": time.perf_counter() - began},
        notes=notes,
        versions=versions(),
        logits=logits.numpy().astype(np.float32),
        labels=prepared.y_test.numpy(),
    )


def _measured(logits: Tensor, labels: Tensor) -> dict[str, Any]:
    """All metrics of test logits, with their intervals."""
    metrics: dict[str, Any] = evaluate(logits, labels, bins=10, replicates=200).to_dict()["metrics"]
    return metrics
