"""Evidence: the runs of a grid, grouped by setting and variant for tables and claims."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, cached_property
from statistics import fmean

from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run
from oddkout.comparing.statistics import Interval, t_interval
from oddkout.paper.choosing import CHOSEN
from oddkout.paper.presets import Preset
from oddkout.paper.protocol import one_protocol
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
    """The runs of a grid, or those of version 0.1.0; all follow one protocol, or this raises.

    Args:
        runs: The runs. If there is a preset, those with other recipes or seeds are left out and
            counted in ``others``.
        preset: Defines the recipe of each setting and variant, except for what is chosen.
    """

    def __init__(self, runs: Iterable[Run], preset: Preset | None = None) -> None:
        self.preset = preset
        self.failed: list[Run] = []
        self.others = 0
        self.trained: list[Run] = []
        self._runs: dict[tuple[Setting, str], list[Run]] = {}
        is_planned = _planned(preset)
        for run in sorted(runs, key=lambda run: (run.config.seed, run.config.id)):
            setting, variant = setting_of(run.config), variant_of(run.config)
            if (
                setting is None
                or variant not in VARIANTS
                or (is_planned is not None and not is_planned(setting, variant, run.config))
            ):
                self.others += 1
            elif run.has_failed:
                self.failed.append(run)
            else:
                self.trained.append(run)
                self._runs.setdefault((setting, variant), []).append(run)
        self.protocol = one_protocol([*self.trained, *self.failed])

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
        """The mean over settings of the means over seeds, with a 95 % interval; none without runs.

        The interval is over the seeds that all settings have; the mean is over all.
        """
        common = list(self.by_seed(settings, variant, value_of).values())
        if not common:
            return None
        half = t_interval(common)
        means = [fmean(self.by_seed([one], variant, value_of).values()) for one in settings]
        mean = fmean(means)
        return Interval(mean, mean - half.mean + half.low, mean - half.mean + half.high)

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


def _planned(preset: Preset | None) -> Callable[[Setting, str, RunConfig], bool]:
    """A function that tells whether a preset has a run: its setting, variant, seed and recipe."""
    if preset is None:
        return lambda setting, variant, config: True
    entries = set(preset.entries)
    recipe_of = cache(lambda setting, variant: _recipe(preset.config(setting, variant)))

    def is_planned(setting: Setting, variant: str, config: RunConfig) -> bool:
        is_entry = (setting, variant, config.seed) in entries
        return is_entry and _recipe(config) == recipe_of(setting, variant)

    return is_planned


def _recipe(config: RunConfig) -> RunConfig:
    """The part of a config that two runs with the same recipe share: all but the choices."""
    return replace(config, **{name: getattr(RunConfig, name) for name in CHOSEN}, seed=0)
