"""Evidence: the runs of a grid, grouped by setting and variant for tables and claims."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from statistics import fmean

from oddkout.checks import Number
from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run
from oddkout.comparing.statistics import Interval, t_interval
from oddkout.comparing.tuning import chosen_rate
from oddkout.paper.presets import Preset
from oddkout.paper.settings import PaperDistribution, Setting, setting_of
from oddkout.paper.variants import VARIANTS, variant_of

# One number of a run; none if the run does not have it.
Measure = Callable[[Run], float | None]


def measure(metric: str, *, is_tempered: bool = False) -> Measure:
    """A function that reads a test metric from a run.

    Args:
        metric: A name from the table of metrics.
        is_tempered: Whether to read it after the out-of-fold temperature was applied; a run
            without folds has no such number.
    """

    def value(run: Run) -> float | None:
        if is_tempered and not run.fold_metrics:
            return None
        number = run.value(metric, is_tempered=is_tempered)
        return None if math.isnan(number) else number

    return value


class Evidence:
    """The runs that were made with the recipe of a preset, at the chosen learning rates.

    Args:
        runs: All runs; those with other recipes are left out and counted in ``others``.
        preset: Defines the recipe of each setting and variant.
    """

    def __init__(self, runs: Iterable[Run], preset: Preset) -> None:
        self.preset = preset
        self.failed: list[Run] = []
        self.others = 0
        self.trained: list[Run] = []  # at any learning rate: the cost of the grid counts them all
        groups: dict[tuple[Setting, str], list[Run]] = {}
        for run in runs:
            setting, variant = setting_of(run.config), variant_of(run.config)
            if setting is None or not _is_made_by(preset, setting, variant, run.config):
                self.others += 1
            elif run.has_failed:
                self.failed.append(run)
            else:
                self.trained.append(run)
                if run.config.folds != preset.config(setting, variant).folds:
                    # Another number of folds gives another estimate of the temperature.
                    run = replace(run, fold_metrics={})
                groups.setdefault((setting, variant), []).append(run)
        self.rates = {
            variant: chosen_rate(
                [run for key in groups if key[1] == variant for run in groups[key]]
            )
            for _, variant in groups
        }
        self._runs = {
            (setting, variant): chosen
            for (setting, variant), own in groups.items()
            if (chosen := _with_rate(own, self.rates[variant]))
        }

    @cached_property
    def settings(self) -> list[Setting]:
        """All settings with runs, in order."""
        return sorted({setting for setting, _ in self._runs})

    @cached_property
    def variants(self) -> list[str]:
        """All variants with runs, in the order of the table of variants."""
        present = {variant for _, variant in self._runs}
        return [name for name in VARIANTS if name in present]

    def runs(self, setting: Setting, variant: str) -> list[Run]:
        """The runs of a variant in a setting, ordered by seed."""
        return self._runs.get((setting, variant), [])

    def sizes(self, data: str, distribution: PaperDistribution, *variants: str) -> list[int]:
        """The numbers of examples per class for which all given variants have runs."""
        return [
            setting.per_class
            for setting in self.settings
            if (setting.data, setting.distribution) == (data, distribution)
            and all(self.runs(setting, variant) for variant in variants)
        ]

    def by_seed(
        self, settings: Sequence[Setting], variant: str, value_of: Measure
    ) -> dict[int, float]:
        """A number averaged over settings, for each seed that all settings have."""
        tables = [
            {run.config.seed: value for run in self.runs(setting, variant)
             if (value := value_of(run)) is not None}
            for setting in settings
        ]  # fmt: skip
        if not tables:
            return {}
        seeds = set.intersection(*(set(table) for table in tables))
        return {seed: fmean(table[seed] for table in tables) for seed in sorted(seeds)}

    def mean(self, settings: Sequence[Setting], variant: str, value_of: Measure) -> Interval | None:
        """A mean over seeds with its 95 % confidence interval; none without runs."""
        values = self.by_seed(settings, variant, value_of)
        return t_interval(list(values.values())) if values else None

    def difference(
        self,
        settings: Sequence[Setting],
        first: str,
        second: str,
        value_of: Measure,
        *,
        comparisons: int = 1,
    ) -> Interval | None:
        """First variant minus second, averaged over settings and paired by seed.

        Args:
            settings: The settings to average over.
            first: A variant.
            second: Another variant.
            value_of: The number to compare.
            comparisons: Number of differences whose confidence intervals hold jointly.

        Returns:
            The mean difference with its confidence interval; none without a common seed.
        """
        own, other = (self.by_seed(settings, name, value_of) for name in (first, second))
        seeds = sorted(own.keys() & other.keys())
        gaps = [own[seed] - other[seed] for seed in seeds]
        return t_interval(gaps, comparisons=comparisons) if gaps else None

    def shared_settings(
        self, data: str, distribution: PaperDistribution, *variants: str
    ) -> list[Setting]:
        """The settings of a data set and distribution in which all given variants have runs."""
        sizes = self.sizes(data, distribution, *variants)
        return [Setting(data, distribution, size) for size in sizes]


def _is_made_by(preset: Preset, setting: Setting, variant: str, config: RunConfig) -> bool:
    """Whether a run follows the preset's recipe for its setting and variant."""
    if variant not in VARIANTS:
        return False
    usual = preset.config(setting, variant)
    if config.spec.temperature == "fit" and config.folds != usual.folds:
        return False  # the folds determine its temperature
    return _recipe(config) == _recipe(usual)


def _recipe(config: RunConfig) -> RunConfig:
    """The part of a config that two runs with the same recipe share."""
    return replace(config, learning_rate=1, seed=0, folds=0)


def _with_rate(runs: Sequence[Run], rate: Number) -> list[Run]:
    """One run per seed at this learning rate, ordered by seed; runs with folds are preferred."""
    chosen: dict[int, Run] = {}
    for run in sorted(runs, key=lambda run: (run.config.seed, -run.config.folds)):
        if run.config.learning_rate == rate:
            chosen.setdefault(run.config.seed, run)
    return list(chosen.values())
