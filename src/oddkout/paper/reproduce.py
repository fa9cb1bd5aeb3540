"""Perform the grid of a preset: make the choices, then perform all runs with them."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from oddkout.comparing.config import RunConfig
from oddkout.comparing.executors import Executor, Job
from oddkout.comparing.executors.local import LocalExecutor
from oddkout.comparing.grid import GridProgress, perform_grid
from oddkout.comparing.run import Run
from oddkout.comparing.store import RunStore
from oddkout.comparing.writers import only_writer
from oddkout.paper.choosing import (
    Picked,
    chosen_as,
    made_choices,
    perform_choice,
    planned_choices,
)
from oddkout.paper.digest import digest
from oddkout.paper.presets import SAME_ON_UNIFORM, Preset
from oddkout.paper.protocol import checked_protocol, one_protocol
from oddkout.paper.settings import Setting


@dataclass(frozen=True, kw_only=True)
class Reproduced:
    """The runs of a grid.

    Attributes:
        runs: The runs of the tables.
        compared: The runs that made the choices; they have no test part.
    """

    runs: list[Run]
    compared: list[Run]


# What was chosen for each variant, by group of settings.
Choices = Mapping[int, Mapping[str, Picked]]


def reproduce(
    preset: Preset,
    store: RunStore,
    *,
    choices_store: RunStore | None = None,
    executor: Executor | None = None,
    chooser: Executor | None = None,
    progress: GridProgress | None = None,
) -> Reproduced:
    """Perform the missing runs of a grid, the longest first.

    Call it again to resume. A second process with the same store is refused.

    Args:
        preset: The grid.
        store: Holds the runs; those it has are not performed again.
        choices_store: Holds the runs that make the choices; by default in a folder of the store.
        executor: Performs the runs; by default in processes on this machine.
        chooser: Performs the runs that make the choices, with ``perform_choice``.
        progress: Called before the choices, before the final runs, and after every run.
    """
    protocol = checked_protocol() if preset.has_protocol else ""
    compared: list[Run] = []
    choices: dict[int, Mapping[str, Picked]] = {}

    def perform(configs: list[RunConfig], into: RunStore, by: Executor) -> list[Run]:
        known = [into.read(config) for config in configs if config in into]
        one_protocol([*known, Run(config=configs[0], protocol=protocol)])
        return perform_grid(configs, into, executor=_stamped(by, protocol), progress=progress)

    with only_writer(store.folder):
        if preset.choices:
            into = choices_store or RunStore(store.folder / "choices")
            by = chooser or LocalExecutor(perform=perform_choice)
            for number, group in enumerate(preset.choices):
                if variants := preset.chosen_variants(group):
                    choices[number], runs = made_choices(
                        group, preset.config, variants, lambda configs: perform(configs, into, by)
                    )
                    compared += runs
        runs = perform(trained_configs(preset, choices), store, executor or LocalExecutor())
        for config, origin in _shared_configs(preset, choices):
            if config not in store:
                whole = store.read(origin, has_predictions=store.has_predictions(origin))
                store.write(replace(whole, config=config, seconds={}))  # which took no time
            runs.append(store.read(config))
    return Reproduced(runs=runs, compared=compared)


def trained_configs(preset: Preset, choices: Choices) -> list[RunConfig]:
    """The runs of a grid that are trained."""
    return list(
        dict.fromkeys(
            _config(preset, setting, variant, seed, choices)
            for setting, variant, seed in preset.entries
            if not _is_shared(setting, variant)
        )
    )


def planned(preset: Preset) -> tuple[list[RunConfig], list[RunConfig]]:
    """The runs that make the choices, and all others, as if the first candidates were chosen."""
    choosing = [
        config
        for group in preset.choices
        for config in planned_choices(group, preset.config, preset.chosen_variants(group))
    ]
    return list(dict.fromkeys(choosing)), trained_configs(preset, {})


def final_configs(preset: Preset, choices: Choices) -> list[RunConfig]:
    """All runs of the tables, those that share a training included."""
    shared = [config for config, _ in _shared_configs(preset, choices)]
    return [*trained_configs(preset, choices), *shared]


def _shared_configs(preset: Preset, choices: Choices) -> list[tuple[RunConfig, RunConfig]]:
    """Runs that are not performed, each with the run of the same method under another name."""
    pairs = []
    for setting, variant, seed in preset.entries:
        if _is_shared(setting, variant):
            origin = _config(preset, setting, SAME_ON_UNIFORM[variant], seed, choices)
            pairs.append((replace(origin, method=variant), origin))
    return pairs


def _is_shared(setting: Setting, variant: str) -> bool:
    """Whether the runs of another variant count for this one, too."""
    return setting.distribution == "uniform" and variant in SAME_ON_UNIFORM


def _config(
    preset: Preset, setting: Setting, variant: str, seed: int, choices: Choices
) -> RunConfig:
    """The config of a run, with what was chosen."""
    group = preset.choosing(setting)
    picked: Picked = {}
    if group is not None:
        picked = choices.get(preset.choices.index(group), {}).get(chosen_as(variant), {})
    return replace(preset.config(setting, variant, picked), seed=seed)


def _stamped(executor: Executor, protocol: str) -> Executor:
    """The executor, whose runs state the protocol that they follow."""

    def execute(jobs: Sequence[Job]) -> Generator[list[Run], None, None]:
        with closing(executor(jobs)) as finished:
            for runs in finished:
                yield [replace(run, protocol=protocol, extras=digest(run)) for run in runs]

    return execute
