"""Evidence: the runs of a grid by setting and variant, as tables and claims ask for them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from statistics import fmean

from oddkout.checks import Number
from oddkout.comparing.comparison import Interval, t_interval
from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run
from oddkout.comparing.tuning import chosen_rate
from oddkout.paper.presets import Preset
from oddkout.paper.settings import Distribution, Setting, setting_of
from oddkout.paper.variants import VARIANTS, variant_of

# One number of a run; none where it has no such number.
Measure = Callable[[Run], float | None]


def measure(metric: str, *, is_tempered: bool = False) -> Measure:
    """A metric of the test part, as a function of a run.

    Args:
        metric: Its name, as ``evaluate`` has it.
        is_tempered: Whether with the out-of-fold temperature; none for a run without folds.
    """

    def value(run: Run) -> float | None:
        if is_tempered and not run.out_of_fold:
            return None
        found = run.value(metric, is_tempered=is_tempered)
        return None if found != found else found

    return value


class Evidence:
    """Runs with the chosen learning rates, made with the recipe of a preset.

    Args:
        runs: All runs there are; those of other recipes are left out and counted.
        preset: The grid that says what the recipe of each setting and variant is.
    """

    def __init__(self, runs: Iterable[Run], preset: Preset) -> None:
        self.preset = preset
        self.failed: list[Run] = []
        self.others = 0
        self.trained: list[Run] = []  # whatever their rate: this is what the grid has cost
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
                    run = replace(run, out_of_fold={})  # its temperature is another estimate
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
        found = {variant for _, variant in self._runs}
        return [name for name in VARIANTS if name in found]

    def runs(self, setting: Setting, variant: str) -> list[Run]:
        """The runs of a variant in a setting, by seed; none if there are none.

        Args:
            setting: The setting.
            variant: The variant.
        """
        return self._runs.get((setting, variant), [])

    def sizes(self, data: str, distribution: Distribution, *variants: str) -> list[int]:
        """Examples per class for which all given variants have runs.

        Args:
            data: The data set.
            distribution: The distribution of classes.
            *variants: The variants.
        """
        return [
            setting.per_class
            for setting in self.settings
            if (setting.data, setting.distribution) == (data, distribution)
            and all(self.runs(setting, variant) for variant in variants)
        ]

    def by_seed(self, settings: Sequence[Setting], variant: str, of: Measure) -> dict[int, float]:
        """A number averaged over settings, seed by seed, for the seeds that all of them have.

        Args:
            settings: The settings.
            variant: The variant.
            of: The number.
        """
        tables = [
            {run.config.seed: value for run in self.runs(setting, variant)
             if (value := of(run)) is not None}
            for setting in settings
        ]  # fmt: skip
        if not tables:
            return {}
        seeds = set.intersection(*(set(table) for table in tables))
        return {seed: fmean(table[seed] for table in tables) for seed in sorted(seeds)}

    def mean(self, settings: Sequence[Setting], variant: str, of: Measure) -> Interval | None:
        """Its mean over seeds with a 95 % interval; none without runs.

        Args:
            settings: The settings.
            variant: The variant.
            of: The number.
        """
        values = self.by_seed(settings, variant, of)
        return t_interval(list(values.values())) if values else None

    def lead(
        self,
        settings: Sequence[Setting],
        first: str,
        second: str,
        of: Measure,
        *,
        comparisons: int = 1,
    ) -> Interval | None:
        """First minus second, averaged over settings and paired by seed; none without pairs.

        Args:
            settings: The settings.
            first: A variant.
            second: Another.
            of: The number.
            comparisons: Number of leads whose intervals are to hold at once.
        """
        own, other = (self.by_seed(settings, name, of) for name in (first, second))
        seeds = sorted(own.keys() & other.keys())
        gaps = [own[seed] - other[seed] for seed in seeds]
        return t_interval(gaps, comparisons=comparisons) if gaps else None

    def shared_settings(
        self, data: str, distribution: Distribution, *variants: str
    ) -> list[Setting]:
        """The settings of a data set and distribution for which all given variants have runs.

        Args:
            data: The data set.
            distribution: The distribution of classes.
            *variants: The variants.
        """
        sizes = self.sizes(data, distribution, *variants)
        return [Setting(data, distribution, size) for size in sizes]


def _is_made_by(preset: Preset, setting: Setting, variant: str, config: RunConfig) -> bool:
    """Whether a run has the recipe that the preset has for its setting and variant."""
    if variant not in VARIANTS:
        return False
    usual = preset.config(setting, variant)
    if config.how.temperature == "fit" and config.folds != usual.folds:
        return False  # what it is depends on them
    return _recipe(config) == _recipe(usual)


def _recipe(config: RunConfig) -> RunConfig:
    """What must agree for two runs to be of one recipe."""
    return replace(config, learning_rate=1, seed=0, folds=0)


def _with_rate(runs: Sequence[Run], rate: Number) -> list[Run]:
    """The runs with a rate, one a seed, by seed; with folds rather than without."""
    found: dict[int, Run] = {}
    for run in sorted(runs, key=lambda run: (run.config.seed, -run.config.folds)):
        if run.config.learning_rate == rate:
            found.setdefault(run.config.seed, run)
    return list(found.values())
