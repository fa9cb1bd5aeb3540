"""Perform runs: load the data, fit and evaluate; the same on every executor."""

import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run, failed_runs
from oddkout.data import Data
from oddkout.data.load import load_everything, training_subset
from oddkout.evaluation import evaluate
from oddkout.fitting.fit import BINS
from oddkout.fitting.folds import UNSCORED
from oddkout.fitting.preparation import Prepared, prepared
from oddkout.fitting.recipe import suited_to
from oddkout.fitting.stack import Stack, fit_stack
from oddkout.fitting.training import predict_logits
from oddkout.models import build_model
from oddkout.version import versions

_REPLICATES = 200


def perform(configs: Sequence[RunConfig]) -> list[Run]:
    """Perform runs that share their training; train once.

    An error does not raise; it becomes the reason of failed runs, so that the grid continues.

    Args:
        configs: Configs with the same ``training``.
    """
    torch.set_num_threads(1)
    began_cpu = time.process_time()
    try:
        data = prepared(data_for(configs[0]))
        fitted = fit_stack(
            data,
            method=configs[0].spec,
            recipe=configs[0].recipe,
            choices={},
            folds=configs[0].folds,
            members=configs[0].members,
            calibration=configs[0].calibrate,
            population=configs[0].population,
            seed=configs[0].seed,
            processes=1,
        )
        test_logits = predict_logits(fitted.model, data.x_test)
        runs = [
            _evaluated(config, data, fitted.with_method(config.spec), test_logits)
            for config in configs
        ]
        for run in runs:
            run.seconds["cpu"] = time.process_time() - began_cpu
        return runs
    except (ValueError, OSError) as error:
        return failed_runs(configs, str(error) or type(error).__name__)
    except Exception as error:  # a bug, or out of memory: keep the traceback
        summary = f"{type(error).__name__}: {error}"
        return failed_runs(configs, f"{summary}\n{traceback.format_exc()}")


def check(config: RunConfig) -> None:
    """Raise if the data or the model of a run are invalid, before the whole grid fails."""
    data = prepared(data_for(config))
    if len(data.y_test) < 2:
        raise ValueError(
            f"a comparison needs at least 2 test examples, got {len(data.y_test)}; raise test_size "
            "or pass a test part"
        )
    build_model(
        config.model,
        shape=tuple(data.x.shape[1:]),
        classes=len(data.classes),
        generator=torch.Generator(),
        dropout=config.dropout,
    )


def data_for(config: RunConfig) -> Data:
    """Load the training and test data of a run."""
    reading = tuple(config.reading.items())
    data = _loaded(config.data, config.fingerprint, reading)
    return training_subset(
        data,
        config.data,
        distribution=config.distribution,
        examples=config.train_examples,
        seed=config.seed,
    )


def suited(config: RunConfig) -> RunConfig:
    """The config with the recipe adapted to its number of examples."""
    return replace(config, **suited_to(data_for(config).class_sizes))


@lru_cache(maxsize=1)
def _loaded(source: str, fingerprint: str, reading: tuple[tuple[str, Any], ...]) -> Data:
    """The data, cached for the next run on the same data."""
    return load_everything(source, **dict(reading))


def _evaluated(config: RunConfig, data: Prepared, fitted: Stack, test_logits: Tensor) -> Run:
    """Evaluate a fitted network on the test part and return the run."""
    began = time.perf_counter()
    as_trained, calibrated = (
        mixture.combined(test_logits) for mixture in (fitted.as_trained, fitted.calibrated)
    )
    metrics = _measured(as_trained, data.y_test)
    is_same = torch.equal(calibrated, as_trained)  # usually without folds
    scores = fitted.scores
    run = Run(
        config=config,
        classes=data.classes,
        train_counts=data.y.bincount(minlength=len(data.classes)).tolist(),
        prior=list(fitted.calibrated.stated),
        temperature=float(fitted.calibrated.temperature),
        strength=float(fitted.calibrated.strength),
        updates=max(view.updates for view in fitted.views),
        members=fitted.members,
        weights=dict(zip((view.method.name for view in fitted.views), fitted.weights, strict=True)),
        fold_metrics={} if scores is None else scores.metrics,
        as_trained=metrics,
        tempered=metrics if is_same else _measured(calibrated, data.y_test),
        log=fitted.views[0].log,
        seconds=fitted.seconds | {"evaluate": time.perf_counter() - began},
        notes=list(fitted.notes),
        versions=versions(),
        logits=as_trained.numpy().astype(np.float32),
        calibrated_logits=calibrated.numpy().astype(np.float32),
        labels=data.y_test.numpy(),
        test_rows=data.test_rows,
    )
    if scores is not None:
        is_scored = scores.fold_of != UNSCORED
        run.fold_logits = scores.logits[is_scored].numpy().astype(np.float32)
        run.fold_labels = data.y[is_scored].numpy()
    return run


def _measured(logits: Tensor, labels: Tensor) -> dict[str, Any]:
    """All metrics of the test logits, with confidence intervals."""
    evaluation = evaluate(logits, labels, bins=BINS, replicates=_REPLICATES)
    metrics: dict[str, Any] = evaluation.to_dict()["metrics"]
    return metrics
