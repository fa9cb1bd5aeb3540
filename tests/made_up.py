"""Runs of the paper's grid with chosen metrics, for tests; nobody performed them."""

from dataclasses import replace

import torch

from oddkout.comparing.run import Run
from oddkout.data import KNOWN
from oddkout.paper.claims import judged
from oddkout.paper.digest import digest
from oddkout.paper.evidence import Evidence
from oddkout.paper.presets import PRESETS
from oddkout.paper.settings import Setting

TEN_SHOT = Setting("mnist", "uniform", 10)
DEFAULTS = {"accuracy": 0.8, "ece": 0.05, "nll": 0.6, "brier": 0.3, "entropy": 0.5,
            "entropy_gap": 0.1}  # fmt: skip


def made_up(setting, variant, *, seed=0, folds=0, rate=0.2, nll=1.0, predictions=False, **metrics):
    """A run of the paper's grid with chosen metrics; runs of version 0.1.0 had folds."""
    measured = {name: {"value": value} for name, value in (DEFAULTS | metrics).items()}
    measured["ece"]["null"] = {"mean": 0.01, "high": 0.02, "p_value": 0.5}
    config = PRESETS["paper"].config(setting, variant)
    config = replace(config, learning_rate=rate, seed=seed, folds=folds)
    run = Run(
        config=config,
        classes=KNOWN[setting.data].classes,
        temperature=1.5,
        fold_metrics={"nll": nll, "accuracy": 0.8} if folds else {},
        as_trained=measured,
        tempered=measured,
        seconds={"train": 10.0, "folds": 10.0 * folds, "evaluate": 2.0},
        versions={"torch": "2.13.0"},
    )
    if predictions:
        generator = torch.Generator().manual_seed(seed)
        run.logits = torch.randn(60, 10, generator=generator).numpy()
        run.calibrated_logits = run.logits / 1.5
        run.labels = torch.randint(10, (60,), generator=generator).numpy()
        run.train_counts = [setting.per_class] * setting.classes
        run.extras = digest(run)
    return run


def with_seeds(setting, variant, values, *, metric="accuracy", **others):
    return [
        made_up(setting, variant, seed=seed, **({metric: value} | others))
        for seed, value in enumerate(values)
    ]


def evidence_of(*groups):
    return Evidence([run for group in groups for run in group])


def outcome_of(name, evidence):
    return next(item.outcome for item in judged(evidence) if item.claim.name == name)
