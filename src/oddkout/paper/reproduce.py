"""Performing the grid of a preset: rates are chosen first, then every run is made with them."""

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
    """Perform what is missing of a grid, the longest runs first; return all of its runs.

    Each variant has one learning rate for the whole grid: that of the lowest out-of-fold NLL on the
    first seed, in the mean over one size of every data set and distribution. What the store knows
    of others has its say, too, so that a grid done in parts has the rates of the whole. Killed and
    called again, it goes on.

    Args:
        preset: The grid.
        store: Where runs are kept; what it holds is not performed again.
        executor: Where runs are performed; in processes of this machine if not given.
        progress: Called at the start of each half, and whenever a run has been stored.
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
    """The runs among which learning rates are chosen.

    Args:
        preset: The grid.
    """
    return [
        replace(config, learning_rate=rate, seed=0)
        for variant, config in _references(preset)
        for rate in preset.rates(variant)
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
            learning_rate=rates.get(variant, preset.rates(variant)[0]),
            seed=seed,
        )
        for setting, variant in preset.entries
        for seed in range(preset.seeds)
    ]


def planned_counts(preset: Preset) -> dict[RunConfig, int]:
    """How many runs a grid has of every setting and variant, whatever their rate and seed.

    Args:
        preset: The grid.
    """
    counts = {preset.config(setting, variant): preset.seeds for setting, variant in preset.entries}
    for _, config in _references(preset):
        # One of the rates on the first seed is the chosen one, which the grid has already.
        known = counts.get(config, 1)
        counts[config] = known + len(preset.learning_rates) - 1
    return counts


def planned(preset: Preset) -> list[RunConfig]:
    """The runs of a grid before anything is known: as many, at whatever rate.

    Args:
        preset: The grid.
    """
    return list(dict.fromkeys([*tuning_configs(preset), *final_configs(preset, {})]))


def _references(preset: Preset) -> list[tuple[str, RunConfig]]:
    """Where learning rates are chosen; none for a single rate, or without folds to choose by."""
    if len(preset.learning_rates) < 2 or not preset.folds:
        return []
    return [
        (variant, preset.config(preset.reference(data, distribution), variant))
        for data in preset.datasets
        for distribution in preset.distributions
        for variant in preset.variants
    ]
