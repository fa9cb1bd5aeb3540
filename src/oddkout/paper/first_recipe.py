"""The recipe of version 0.1.0, and the committed runs that were made with it."""

from collections.abc import Iterable
from dataclasses import replace
from statistics import harmonic_mean
from typing import Any

from oddkout.checks import Number
from oddkout.comparing.run import Run
from oddkout.comparing.tuning import chosen_rate
from oddkout.paper.settings import setting_of
from oddkout.paper.variants import variant_of

# One network with a decaying learning rate; its temperature is fitted out of fold.
FIRST_RECIPE: dict[str, Any] = {
    "dropout": 0.3,
    "examples": 20,
    "sets": 256,
    "schedule": "cosine",
    "averaging": None,
    "head_until": 0.6,
}

# Settings in which learning rates were chosen and temperatures fitted, by five folds.
_REFERENCE_SIZES, _FOLDS = {"uniform": 10, "heavy-tailed": 20}, 5

_UPDATES, _WEIGHT_DECAY, _HEAD_WEIGHT, _FEW = 600, 2e-3, 2.0, 10


def first_recipe(class_sizes: Iterable[Number]) -> dict[str, Any]:
    """The fields of the recipe that version 0.1.0 used for these class sizes.

    Example:
        >>> first_recipe([20, 20])["updates"], first_recipe([5, 5])["weight_decay"]
        (1200, 0.002)
    """
    mean = harmonic_mean([size for size in class_sizes if size > 0])
    ratio = max(1.0, round(mean / _FEW, 2))
    return FIRST_RECIPE | {
        "updates": round(_UPDATES * min(2, ratio)),
        "weight_decay": _WEIGHT_DECAY / ratio,
        "head_weight": _HEAD_WEIGHT / ratio,
    }


def first_runs(lines: Iterable[Run]) -> list[Run]:
    """The runs of version 0.1.0 that its tables show: at the chosen rates, each seed once.

    A rate was chosen for the whole grid, by out-of-fold NLL on the first seed. Runs with folds are
    preferred to the same run without. Other numbers of folds than those of the grid give another
    estimate of the temperature, which is left out.
    """
    groups: dict[tuple[str, Any], list[Run]] = {}
    for run in lines:  # the small runs on CIFAR had one rate
        groups.setdefault((variant_of(run.config), run.config.model), []).append(run)
    chosen: dict[tuple[Any, ...], Run] = {}
    for (variant, _), own in groups.items():
        rate = chosen_rate([_with_usual_folds(run) for run in own])
        for run in sorted(own, key=lambda run: -run.config.folds):
            if run.config.learning_rate == rate:
                key = (setting_of(run.config), variant, run.config.seed)
                chosen.setdefault(key, _with_usual_folds(run))
    return sorted(chosen.values(), key=lambda run: run.config.id)


def _with_usual_folds(run: Run) -> Run:
    """The run; without its temperature, if other folds than those of the grid fitted it."""
    setting = setting_of(run.config)
    is_reference = (
        setting is not None and setting.per_class == _REFERENCE_SIZES[setting.distribution]
    )
    usual = _FOLDS if is_reference or run.config.spec.temperature == "fit" else 0
    return run if run.config.folds == usual else replace(run, fold_metrics={})
