"""Runs with made-up predictions, for tests of reports and comparisons."""

from dataclasses import replace
from unittest import mock

import numpy as np

import oddkout as oko
from oddkout.comparing.config import RunConfig
from oddkout.comparing.example_values import TRIED, example_values
from oddkout.comparing.run import Run
from oddkout.comparing.store import RunStore
from oddkout.decisions.held_out import HeldOut
from oddkout.decisions.trial import trial

METHODS = ["vanilla", "bb+ts", "bb+ts-fit", "oko"]
SETTING = RunConfig(
    data="digits", distribution="heavy-tailed", train_examples=200, population="uniform", folds=2
)
RATES = (0.1, 0.2)
CLASSES = ("ant", "bee", "cat", "dog")


def synthetic_run(config, *, classes=CLASSES, examples=80, skill=2.0):
    """A run like those of ``perform``, with random predictions."""
    rng = np.random.default_rng(int(config.id[:12], 16))
    labels = np.arange(examples) % len(classes)
    raw = rng.normal(size=(examples, len(classes))) + skill * np.eye(len(classes))[labels]
    temperature = float(rng.uniform(0.5, 2))
    own = config.spec.temperature
    divisor = temperature if own == "fit" else own if own != "none" else 1.0
    logits = (raw / divisor).astype(np.float32)
    tempered = logits if own == "fit" else (raw / temperature).astype(np.float32)
    measured = [_measured(one, labels) for one in (logits, tempered)]
    run = Run(
        config=config,
        classes=tuple(classes),
        train_counts=[3 + 20 * number for number in range(len(classes))],
        temperature=temperature,
        fold_metrics={"nll": float(rng.uniform(0.2, 0.9)), "accuracy": 0.8} if config.folds else {},
        as_trained=measured[0],
        tempered=measured[1],
        log=[
            {"update": 50 * step, "loss": float(2 / step), "learning_rate": 0.1}
            for step in (1, 2, 3)
        ],
        seconds={"train": 1.0, "folds": 2.0, "evaluate": 0.5},
        notes=["a note on the data"],
        versions={"oddkout": oko.__version__, "torch": "2.13.0"},
        logits=logits,
        calibrated_logits=tempered,
        labels=labels,
    )
    if config.folds:
        _decide(run, rng, skill)
    return run


def _decide(run, rng, skill):
    """Add made-up out-of-fold predictions, and the decisions that follow from them."""
    classes = len(run.classes)
    labels = np.repeat(np.arange(classes), run.train_counts)
    logits = rng.normal(size=(len(labels), classes)) + skill * np.eye(classes)[labels]
    held_out = HeldOut(
        logits=logits, labels=labels, folds=np.arange(len(labels)) % 2, groups=None, source="others"
    )
    equal = (1 / classes,) * classes
    found = trial(
        held_out, logits=run.calibrated_logits, members=None, stated=equal, train=equal,
        classes=run.classes,
    )  # fmt: skip
    run.fold_calibrated, run.fold_labels = logits.astype(np.float32), labels
    run.sets, run.answered, run.promises = found.sets, found.answered, found.promises
    run.tempered |= {
        name: {"value": example_values(run, name, is_tempered=True).mean()} for name in TRIED
    }


def _measured(logits, labels):
    """The compared metrics, in the format of ``evaluate``, with made-up null levels."""
    given = {"logits": logits, "labels": labels}
    values = {
        "accuracy": oko.metrics.accuracy(**given),
        "nll": oko.metrics.negative_log_likelihood(**given),
        "ece": oko.metrics.expected_calibration_error(**given, bins=10),
        "brier": oko.metrics.brier_score(**given),
        "entropy_gap": oko.metrics.entropy_gap(**given),
    }
    metrics = {name: {"value": value.item()} for name, value in values.items()}
    for name in ("ece", "entropy_gap"):
        level = metrics[name]["value"] / 2
        metrics[name]["null"] = {"mean": level, "high": 1.5 * level, "p_value": 0.01}
    return metrics


def fake_executor(*, is_failing=lambda config: False, **options):
    """An executor that returns synthetic runs, some of them failed."""

    def perform(jobs):
        for job in jobs:
            yield [
                Run(config=config, reason="the loss is not finite at update 7\ndetails")
                if is_failing(config)
                else synthetic_run(config, **options)
                for config in job
            ]

    return perform


def fill(
    folder, *, methods, seeds=3, setting=SETTING, rates=RATES, costs=None, criterion=None, **options
):
    """Fill a folder by ``compare`` with synthetic runs; return the store and the comparison."""
    # Synthetic runs need no data that exist.
    with (
        mock.patch("oddkout.comparing.compare.setting", return_value=setting),
        mock.patch("oddkout.comparing.compare.doubts", return_value=[]),
        mock.patch("oddkout.comparing.compare.data_for") as data_for,
        mock.patch("oddkout.comparing.contestants.ALWAYS", ()),
    ):
        data_for.return_value.classes = options.get("classes", CLASSES)
        comparison = oko.compare(
            methods=methods,
            seeds=seeds,
            learning_rates=rates,
            folds=setting.folds,
            costs=costs,
            criterion=criterion,
            out=folder,
            executor=fake_executor(**options),
        )
    return RunStore(folder), comparison


def with_seed(seed, **changes):
    return replace(SETTING, seed=seed, **changes)
