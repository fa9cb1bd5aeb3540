"""Choices of the paper's grids: the same lists for every method, compared out of fold.

The test part is never used: a run that compares candidates has out-of-fold predictions only.
"""

import math
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import torch

from oddkout.comparing.config import RunConfig
from oddkout.comparing.perform import data_for
from oddkout.comparing.run import Run, failed_runs
from oddkout.fitting.pipeline import fit_network
from oddkout.fitting.preparation import prepared
from oddkout.fitting.selection import alternatives
from oddkout.paper.settings import Setting
from oddkout.version import versions

# The fields of a recipe that the choices may change.
CHOSEN = ("learning_rate", "dropout", "smoothing", "gamma", "head_weight", "updates")

# What was chosen, by the name of the choice.
Picked = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Choosing:
    """What is chosen for a group of settings, and where it is compared.

    Attributes:
        datasets: Data sets of the group.
        sizes: Smallest and largest number of examples per class.
        lists: Candidates by the name of the choice, one choice after the other: those of
            ``selection``, and ``updates``, a factor on the number of updates.
        references: The settings in which candidates are compared, each with its seed.
        folds: Number of folds there; 1 holds out a tenth.
    """

    datasets: tuple[str, ...]
    sizes: tuple[int, int]
    lists: Mapping[str, Sequence[Any]]
    references: tuple[tuple[Setting, int], ...]
    folds: int

    def covers(self, setting: Setting) -> bool:
        """Whether a setting uses these choices."""
        smallest, largest = self.sizes
        return setting.data in self.datasets and smallest <= setting.per_class <= largest


def chosen_as(variant: str) -> str:
    """The variant whose choices a variant uses: ablations of OKO use those of OKO.

    Example:
        >>> [chosen_as(name) for name in ("oko-k2", "bb+ts", "focal")]
        ['oko', 'bb', 'focal']
    """
    if variant == "pair" or variant.startswith("oko-"):
        return "oko"
    return "bb" if variant.startswith("bb+ts") else variant


def with_choices(config: RunConfig, picked: Picked) -> RunConfig:
    """The config with what was chosen; a choice that its method does not have is left out."""
    start = config
    for name, value in picked.items():
        if name == "updates":
            config = replace(config, updates=max(1, round(value * start.updates)))
        else:
            config = alternatives(config, name, [value], method=config.spec, start=start)[-1]
    return config


def reference_configs(
    choosing: Choosing, config_of: Callable[[Setting, str], RunConfig], variant: str, picked: Picked
) -> list[RunConfig]:
    """The runs that score a candidate, one for each reference setting."""
    return [
        replace(
            with_choices(config_of(setting, variant), picked),
            seed=seed,
            folds=choosing.folds,
            members="folds",
        )
        for setting, seed in choosing.references
    ]


def planned_choices(
    choosing: Choosing, config_of: Callable[[Setting, str], RunConfig], variants: Sequence[str]
) -> list[RunConfig]:
    """As many runs as the choices need, as if each choice kept the first candidate."""
    first = {name: values[0] for name, values in choosing.lists.items()}
    configs: dict[RunConfig, None] = {}
    for variant in variants:
        for name, values in choosing.lists.items():
            for value in values:
                picked = first | {name: value}
                configs |= dict.fromkeys(reference_configs(choosing, config_of, variant, picked))
    return list(configs)


def made_choices(
    choosing: Choosing,
    config_of: Callable[[Setting, str], RunConfig],
    variants: Sequence[str],
    perform: Callable[[list[RunConfig]], list[Run]],
) -> tuple[dict[str, dict[str, Any]], list[Run]]:
    """Make one choice after the other for every variant, by mean log NLL over the references.

    A candidate with a failed run is not eligible, unless all failed; then the first is kept.

    Args:
        choosing: The lists, and where to compare.
        config_of: The config of a setting and a variant, before all choices.
        variants: The variants to choose for.
        perform: Performs configs and returns their runs in the same order.

    Returns:
        What was chosen for each variant, and all runs that were compared.
    """
    first = {name: values[0] for name, values in choosing.lists.items()}
    picked: dict[str, dict[str, Any]] = {variant: dict(first) for variant in variants}
    compared: dict[RunConfig, Run] = {}
    for name, values in choosing.lists.items():
        candidates = {
            (variant, value): reference_configs(
                choosing, config_of, variant, picked[variant] | {name: value}
            )
            for variant in variants
            for value in values
        }
        wanted = list(dict.fromkeys(one for own in candidates.values() for one in own))
        compared |= zip(wanted, perform(wanted), strict=True)
        for variant in variants:
            scores = {
                value: _score([compared[one] for one in candidates[variant, value]])
                for value in values
            }
            picked[variant][name] = min(values, key=lambda value: scores[value])
    return picked, list(compared.values())


def _score(runs: Sequence[Run]) -> float:
    """Mean log NLL over the reference settings."""
    if any(run.has_failed for run in runs):
        return math.inf
    return fmean(math.log(run.fold_metrics["nll"]) for run in runs)


def perform_choice(configs: Sequence[RunConfig]) -> list[Run]:
    """Perform a run that scores a candidate: NLL out of fold, as trained, after all updates.

    Args:
        configs: One config, with folds.
    """
    torch.set_num_threads(1)
    began = time.process_time()
    config = configs[0]
    try:
        data = prepared(data_for(config))
        fitted = fit_network(
            data,
            method=config.spec,
            recipe=config.recipe,
            choices={},
            folds=config.folds,
            members=config.members,
            calibration=config.calibrate,
            population=config.population,
            seed=config.seed,
            processes=1,
        )
    except (ValueError, OSError) as error:
        return failed_runs(configs, str(error) or type(error).__name__)
    except Exception as error:  # a bug, or out of memory: keep the traceback
        return failed_runs(configs, f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
    run = Run(
        config=config,
        classes=data.classes,
        train_counts=data.y.bincount(minlength=len(data.classes)).tolist(),
        updates=config.updates,
        fold_metrics={"nll": fitted.curve[max(fitted.curve)]},
        seconds=fitted.seconds | {"cpu": time.process_time() - began},
        versions=versions(),
    )
    return [replace(run, config=one) for one in configs]
