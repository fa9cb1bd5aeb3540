"""Perform runs: load the data, fit and evaluate; the same on every executor."""

import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from oddkout.comparing.config import RunConfig
from oddkout.comparing.example_values import TRIED, example_values
from oddkout.comparing.outsiders import fit_outsider, time_limit
from oddkout.comparing.run import Run, failed_runs
from oddkout.data import Data
from oddkout.data.load import load_everything, training_subset
from oddkout.decisions.held_out import HeldOut
from oddkout.decisions.trial import trial
from oddkout.evaluation import evaluate
from oddkout.evaluation.weighting import evaluate_for_prior
from oddkout.fitting.folds import UNSCORED, FoldScores
from oddkout.fitting.held_out_file import held_out_of, held_out_rows
from oddkout.fitting.judging import BINS
from oddkout.fitting.methods import METHODS
from oddkout.fitting.preparation import Prepared, prepared
from oddkout.fitting.recipe import suited_to
from oddkout.fitting.stack import Stack, fit_stack
from oddkout.fitting.threads import one_blas_thread, suitable_threads
from oddkout.fitting.training import predict_logits
from oddkout.models import build_model
from oddkout.prior import Frequencies, class_frequencies
from oddkout.version import versions

_REPLICATES = 200


def perform(configs: Sequence[RunConfig]) -> list[Run]:
    """Perform runs that share their training; train once.

    An error does not raise; it becomes the reason of failed runs, so that the grid continues.

    Args:
        configs: Configs with the same ``training``.
    """
    with one_blas_thread(), suitable_threads(0):
        return _performed(configs)


def _performed(configs: Sequence[RunConfig]) -> list[Run]:
    began_cpu = time.process_time()
    try:
        data = prepared(data_for(configs[0]), allows_missing=_is_for_tables(configs[0]))
        runs = (
            [_outsider_run(config, data) for config in configs]
            if configs[0].is_outsider
            else _network_runs(configs, data)
        )
        for run in runs:
            run.seconds["cpu"] = time.process_time() - began_cpu
        return runs
    except (ValueError, OSError) as error:  # a time limit, too
        return failed_runs(configs, str(error) or type(error).__name__)
    except Exception as error:  # a bug, or out of memory: keep the traceback
        summary = f"{type(error).__name__}: {error}"
        return failed_runs(configs, f"{summary}\n{traceback.format_exc()}")


def _network_runs(configs: Sequence[RunConfig], data: Prepared) -> list[Run]:
    """The runs of methods that share their training."""
    first = configs[0]
    fitted = fit_stack(
        data,
        method=first.spec,
        recipe=first.recipe,
        choices={},
        folds=first.folds,
        members=first.members,
        calibration=first.calibrate,
        population=first.population,
        seed=first.seed,
        processes=1,
    )
    test_logits = predict_logits(fitted.model, data.x_test)
    return [
        _evaluated(config, data, fitted.with_method(config.spec), test_logits) for config in configs
    ]


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


def _is_for_tables(config: RunConfig) -> bool:
    return not config.is_outsider and METHODS[config.method].is_for_tables


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


@lru_cache(maxsize=2)  # a grid often alternates between two data sets
def _loaded(source: str, fingerprint: str, reading: tuple[tuple[str, Any], ...]) -> Data:
    """The data, cached for the next run on the same data."""
    return load_everything(source, **dict(reading))


def _evaluated(config: RunConfig, data: Prepared, fitted: Stack, test_logits: Tensor) -> Run:
    """The run of a method: its networks, evaluated on the test part."""
    calibrated = fitted.calibrated
    held_out = held_out_of(
        fitted, data.y, members=config.members, groups=data.groups, is_calibrated=True
    )
    has_members = held_out is not None and held_out.source == "members"
    return _measured_run(
        config,
        data,
        as_trained=fitted.as_trained.combined(test_logits),
        calibrated=calibrated.combined(test_logits),
        by_member=calibrated.by_member(test_logits) if has_members else None,
        scores=fitted.scores,
        held_out=held_out,
        seconds=fitted.seconds,
        prior=list(calibrated.stated),
        temperature=float(calibrated.temperature),
        strength=float(calibrated.strength),
        updates=max(view.updates for view in fitted.views),
        members=fitted.members,
        weights=dict(zip((view.method.name for view in fitted.views), fitted.weights, strict=True)),
        log=fitted.views[0].log,
        notes=list(fitted.notes),
    )


def _outsider_run(config: RunConfig, data: Prepared) -> Run:
    """The run of a contestant that is not ours."""
    with time_limit(config.time_limit):
        fitted = fit_outsider(
            data,
            name=config.method,
            estimator=config.estimator,
            folds=config.folds,
            calibration=config.calibrate,
            population=config.population,
            seed=config.seed,
            is_raw=config.is_raw,
        )
    scores = fitted.scores
    return _measured_run(
        config,
        data,
        held_out=None
        if scores is None
        else held_out_rows(
            scores.calibrated, data.y, scores.fold_of, groups=data.groups, source="others"
        ),
        as_trained=fitted.ledger.logits(fitted.test_logits.double()),
        calibrated=fitted.calibrated.logits(fitted.test_logits.double()),
        scores=scores,
        seconds=fitted.seconds,
        prior=list(fitted.calibrated.stated),
        temperature=float(fitted.calibrated.temperature),
        strength=float(fitted.calibrated.strength),
        notes=list(fitted.notes),
    )


def _measured_run(
    config: RunConfig,
    data: Prepared,
    *,
    as_trained: Tensor,
    calibrated: Tensor,
    by_member: Tensor | None = None,
    scores: FoldScores | None,
    held_out: HeldOut | None,
    seconds: dict[str, float],
    **details: Any,
) -> Run:
    """Evaluate logits of the test part and return the run.

    Args:
        as_trained: Logits without what was fitted out of fold.
        calibrated: Logits with it.
        by_member: Calibrated logits of every member, if they decide on sets together.
        scores: Out-of-fold predictions.
        held_out: The same, to decide by.
        seconds: Duration of fitting.
        **details: Further fields of the run.
    """
    began = time.perf_counter()
    is_weighted = isinstance(config.population, tuple)
    measured = partial(_measured, data=data, prior=details["prior"], is_weighted=is_weighted)
    metrics = measured(as_trained)
    is_same = torch.equal(calibrated, as_trained)  # usually without folds
    run = Run(
        config=config,
        classes=data.classes,
        train_counts=data.y.bincount(minlength=len(data.classes)).tolist(),
        fold_metrics={} if scores is None else scores.metrics,
        as_trained=metrics,
        tempered=metrics if is_same else measured(calibrated),
        versions=versions(),
        logits=as_trained.numpy().astype(np.float32),
        calibrated_logits=calibrated.numpy().astype(np.float32),
        labels=data.y_test.numpy(),
        test_rows=data.test_units,
        **details,
    )
    if scores is not None:
        is_scored = scores.fold_of != UNSCORED
        run.fold_logits = scores.logits[is_scored].numpy().astype(np.float32)
        run.fold_calibrated = scores.calibrated[is_scored].numpy().astype(np.float32)
        run.fold_labels = data.y[is_scored].numpy()
    if held_out is not None:
        train = tuple(class_frequencies(data.y, classes=len(data.classes)).tolist())
        _try_decisions(run, held_out, calibrated=calibrated, by_member=by_member, train=train)
    run.seconds = seconds | {"evaluate": time.perf_counter() - began}
    return run


def _try_decisions(
    run: Run,
    held_out: HeldOut,
    *,
    calibrated: Tensor,
    by_member: Tensor | None,
    train: Frequencies,
) -> None:
    """Add a trial of decisions on the test part, and its metrics."""
    found = trial(
        held_out,
        logits=calibrated,
        members=by_member,
        stated=run.prior,
        train=train,
        classes=run.classes,
    )
    run.sets, run.answered, run.promises = found.sets, found.answered, found.promises
    run.tempered = run.tempered | {
        metric: {"value": float(example_values(run, metric, is_tempered=True).mean())}
        for metric in TRIED
    }


def _measured(
    logits: Tensor, *, data: Prepared, prior: list[float], is_weighted: bool
) -> dict[str, Any]:
    """All metrics of the test logits, with confidence intervals; skill is against the prior.

    Args:
        is_weighted: Whether to weigh test examples so that classes have the frequencies of the
            prior.
    """
    evaluation = (evaluate_for_prior if is_weighted else evaluate)(
        logits,
        data.y_test,
        prior=prior,
        groups=data.test_units,
        bins=BINS,
        replicates=_REPLICATES,
    )
    metrics: dict[str, Any] = evaluation.to_dict()["metrics"]
    return metrics
