"""Perform the grid of a preset: choose the learning rates, then perform all runs with them."""

from dataclasses import replace

from oddkout.checks import Number
from oddkout.comparing.config import RunConfig
from oddkout.comparing.executors import Executor
from oddkout.comparing.grid import GridProgress, perform_grid
from oddkout.comparing.run import Run
from oddkout.comparing.store import RunStore
from oddkout.comparing.tuning import chosen_rate
from oddkout.paper.presets import PRESETS, Preset
from oddkout.paper.settings import DISTRIBUTIONS
from oddkout.paper.variants import variant_of


def reproduce(
    preset: Preset,
    store: RunStore,
    *,
    executor: Executor | None = None,
    progress: GridProgress | None = None,
) -> list[Run]:
    """Perform the missing runs of a grid, the longest first, and return all of its runs.

    Each variant has one learning rate for the whole grid: the one with the lowest mean out-of-fold
    NLL on the first seed, over one size of every data set and distribution. Runs of other data sets
    in the store count, too, so that a grid performed in parts gets the same rates as the whole.
    Call it again to resume.

    Args:
        preset: The grid.
        store: Holds the runs; those it has are not performed again.
        executor: Performs the runs; by default in processes on this machine.
        progress: Called before the tuning runs, before the final runs, and after every run.
    """

    def perform(configs: list[RunConfig]) -> list[Run]:
        return perform_grid(configs, store, executor=executor, progress=progress)

    tuning = perform(tuning_configs(preset)) if tuning_configs(preset) else []
    whole = replace(preset, datasets=PRESETS["paper"].datasets, distributions=DISTRIBUTIONS)
    known = [store.read(config) for config in tuning_configs(whole) if config in store]
    rates = {
        variant: chosen_rate(own)
        for variant in preset.variants
        if (own := [run for run in known if variant_of(run.config) == variant])
    }
    runs = perform(final_configs(preset, rates))
    return list({run.config.id: run for run in [*tuning, *runs]}.values())


def tuning_configs(preset: Preset) -> list[RunConfig]:
    """The runs that choose the learning rates."""
    return [
        replace(config, learning_rate=rate, seed=0)
        for variant, config in _references(preset)
        for rate in preset.rates(variant)
    ]


def final_configs(preset: Preset, rates: dict[str, Number]) -> list[RunConfig]:
    """All runs of a grid at the chosen rates, by variant; at the first rate if none was chosen."""
    return [
        replace(
            preset.config(setting, variant),
            learning_rate=rates.get(variant, preset.rates(variant)[0]),
            seed=seed,
        )
        for setting, variant in preset.entries
        for seed in range(preset.seeds)
    ]


def planned_counts(preset: Preset) -> dict[RunConfig, int]:
    """The number of runs of each setting and variant of a grid, over all rates and seeds."""
    counts = {preset.config(setting, variant): preset.seeds for setting, variant in preset.entries}
    for _, config in _references(preset):
        # The first seed is run at every rate; the chosen rate is counted already.
        known = counts.get(config, 1)
        counts[config] = known + len(preset.learning_rates) - 1
    return counts


def planned(preset: Preset) -> list[RunConfig]:
    """The runs of a grid before rates are chosen: their number is right, their rates are not."""
    return list(dict.fromkeys([*tuning_configs(preset), *final_configs(preset, {})]))


def _references(preset: Preset) -> list[tuple[str, RunConfig]]:
    """The configs at which rates are chosen; none if there is one rate or no folds."""
    if len(preset.learning_rates) < 2 or not preset.folds:
        return []
    return [
        (variant, preset.config(preset.reference(data, distribution), variant))
        for data in preset.datasets
        for distribution in preset.distributions
        for variant in preset.variants
    ]
