"""Performing the grid of a preset: rates are chosen first, then every run is made with them."""

from dataclasses import replace

from oddkout.checks import Number
from oddkout.experiments.config import RunConfig
from oddkout.experiments.executors import Executor
from oddkout.experiments.grid import GridProgress, perform_grid
from oddkout.experiments.presets import Preset
from oddkout.experiments.run import Run
from oddkout.experiments.settings import Setting
from oddkout.experiments.store import RunStore
from oddkout.experiments.tuning import perform_tuned


def reproduce(
    preset: Preset,
    store: RunStore,
    *,
    executor: Executor | None = None,
    progress: GridProgress | None = None,
) -> list[Run]:
    """Perform what is missing of a grid, the longest runs first; return all of its runs.

    Each variant chooses its learning rate at one size of every data set and distribution, by
    out-of-fold NLL on the first seed, and keeps it at the other sizes. Killed and called again, it
    goes on.

    Args:
        preset: The grid.
        store: Where runs are kept; what it holds is not performed again.
        executor: Where runs are performed; in processes of this machine if not given.
        progress: Called at the start of each half, and whenever a run has been stored.
    """
    rates: dict[tuple[str, str, str], Number] = {}
    tuning: list[Run] = []
    if candidates := tuning_configs(preset):
        best, tuning = perform_tuned(
            candidates.values(),
            learning_rates=preset.learning_rates,
            seeds=[0],
            perform=lambda configs: perform_grid(
                configs, store, executor=executor, progress=progress
            ),
        )
        chosen = [run.config.learning_rate for run in best]
        rates = dict(zip(candidates, chosen, strict=True))
    runs = perform_grid(final_configs(preset, rates), store, executor=executor, progress=progress)
    return list({run.config.id: run for run in [*tuning, *runs]}.values())


def tuning_configs(preset: Preset) -> dict[tuple[str, str, str], RunConfig]:
    """Where learning rates are chosen, by data set, distribution and variant; rates are open.

    Args:
        preset: The grid; one with a single rate or without folds has nothing to choose.
    """
    if len(preset.learning_rates) < 2 or not preset.folds:
        return {}
    return {
        (data, distribution, variant): preset.config(preset.reference(data, distribution), variant)
        for data in preset.datasets
        for distribution in preset.distributions
        for variant in preset.variants
    }


def final_configs(preset: Preset, rates: dict[tuple[str, str, str], Number]) -> list[RunConfig]:
    """All runs of a grid, with the chosen rates; with the first where none was chosen.

    Args:
        preset: The grid.
        rates: The chosen rates, by data set, distribution and variant.
    """

    def config(setting: Setting, variant: str, seed: int) -> RunConfig:
        key = (setting.data, setting.distribution, variant)
        rate = rates.get(key, preset.learning_rates[0])
        return replace(preset.config(setting, variant), learning_rate=rate, seed=seed)

    return [
        config(setting, variant, seed)
        for setting in preset.settings
        for variant in preset.variants
        for seed in range(preset.seeds)
    ]


def planned(preset: Preset) -> list[RunConfig]:
    """The runs of a grid before anything is known: as many, at whatever rate.

    Args:
        preset: The grid.
    """
    tuning = [
        replace(config, learning_rate=rate, seed=0)
        for config in tuning_configs(preset).values()
        for rate in preset.learning_rates
    ]
    return list(dict.fromkeys([*tuning, *final_configs(preset, {})]))
