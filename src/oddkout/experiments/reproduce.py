"""Performing the grid of a preset: rates are chosen first, then every run is made with them."""

from dataclasses import replace

from oddkout.checks import Number
from oddkout.experiments.config import RunConfig
from oddkout.experiments.executors import Executor
from oddkout.experiments.grid import GridProgress, perform_grid
from oddkout.experiments.presets import Preset
from oddkout.experiments.run import Run
from oddkout.experiments.store import RunStore
from oddkout.experiments.tuning import chosen_rate
from oddkout.experiments.variants import variant_of


def reproduce(
    preset: Preset,
    store: RunStore,
    *,
    executor: Executor | None = None,
    progress: GridProgress | None = None,
) -> list[Run]:
    """Perform what is missing of a grid, the longest runs first; return all of its runs.

    Each variant has one learning rate for the whole grid: that of the lowest out-of-fold NLL on the
    first seed, in the mean over one size of every data set and distribution. Killed and called
    again, it goes on.

    Args:
        preset: The grid.
        store: Where runs are kept; what it holds is not performed again.
        executor: Where runs are performed; in processes of this machine if not given.
        progress: Called at the start of each half, and whenever a run has been stored.
    """

    def perform(configs: list[RunConfig]) -> list[Run]:
        return perform_grid(configs, store, executor=executor, progress=progress)

    tuning = perform(tuning_configs(preset)) if tuning_configs(preset) else []
    rates = {
        variant: chosen_rate(own)
        for variant in preset.variants
        if (own := [run for run in tuning if variant_of(run.config) == variant])
    }
    runs = perform(final_configs(preset, rates))
    return list({run.config.id: run for run in [*tuning, *runs]}.values())


def tuning_configs(preset: Preset) -> list[RunConfig]:
    """The runs among which learning rates are chosen.

    Args:
        preset: The grid; one with a single rate or without folds has nothing to choose.
    """
    if len(preset.learning_rates) < 2 or not preset.folds:
        return []
    return [
        replace(
            preset.config(preset.reference(data, distribution), variant),
            learning_rate=rate,
            seed=0,
        )
        for data in preset.datasets
        for distribution in preset.distributions
        for variant in preset.variants
        for rate in preset.learning_rates
    ]


def final_configs(preset: Preset, rates: dict[str, Number]) -> list[RunConfig]:
    """All runs of a grid, with the chosen rates; with the first where none was chosen.

    Args:
        preset: The grid.
        rates: The chosen rates, by variant.
    """
    return [
        replace(
            preset.config(setting, variant),
            learning_rate=rates.get(variant, preset.learning_rates[0]),
            seed=seed,
        )
        for setting in preset.settings
        for variant in preset.variants
        for seed in range(preset.seeds)
    ]


def planned(preset: Preset) -> list[RunConfig]:
    """The runs of a grid before anything is known: as many, at whatever rate.

    Args:
        preset: The grid.
    """
    return list(dict.fromkeys([*tuning_configs(preset), *final_configs(preset, {})]))
