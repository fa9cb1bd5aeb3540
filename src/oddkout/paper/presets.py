"""Presets: the grids of ``oddkout reproduce``, from a few minutes to the whole paper."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from oddkout.checks import Number, at_least, one_of
from oddkout.comparing.config import RunConfig
from oddkout.fitting.methods import METHODS, PAPER_METHODS
from oddkout.paper.first_recipe import FIRST_FIT, first_recipe
from oddkout.paper.settings import (
    DISTRIBUTIONS,
    TITLES,
    PaperDistribution,
    Setting,
    paper_sizes,
)
from oddkout.paper.variants import VARIANTS

# Examples per class at which rates are chosen and temperatures fitted. Other sizes use the rate
# chosen there.
_REFERENCE_SIZES = {"uniform": 10, "heavy-tailed": 20}


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A grid of settings, variants and seeds, and the budget of each run.

    Attributes:
        name: The name that users type.
        datasets: Names of known data sets.
        distributions: Distributions of the classes.
        sizes: Examples per class; by default the paper's, as far as a data set has so many.
        variants: Names of variants, the rows of the tables.
        seeds: Number of seeds.
        learning_rates: Rates that every variant chooses from.
        folds: Number of folds at the sizes where rates are chosen.
        updates: Number of updates; by default it depends on the size.
        is_narrow: Whether ResNets have a quarter of their width and few updates, for a CPU.
    """

    name: str
    datasets: tuple[str, ...]
    distributions: tuple[PaperDistribution, ...] = DISTRIBUTIONS
    sizes: tuple[int, ...] | None = None
    variants: tuple[str, ...] = tuple(VARIANTS)
    seeds: int = 5
    learning_rates: tuple[Number, ...] = (0.1, 0.2)
    folds: int = RunConfig.folds
    updates: int | None = None
    is_narrow: bool = False

    def __post_init__(self) -> None:
        at_least("seeds", self.seeds, 1)
        for data in self.datasets:
            one_of("dataset", data, TITLES)
        for distribution in self.distributions:
            one_of("distribution", distribution, DISTRIBUTIONS)
        for variant in self.variants:
            one_of("method", variant, VARIANTS)
        for size in self.sizes or ():
            at_least("size", size, 2)
        if not (self.datasets and self.distributions and self.variants and self.learning_rates):
            raise ValueError(
                "a grid needs at least one data set, distribution, method and learning rate; "
                "leave an option out to use that of the preset"
            )
        if not self.entries:
            sizes = " and ".join(f"{size} ({name})" for name, size in _REFERENCE_SIZES.items())
            raise ValueError(
                f"{', '.join(self.variants)} needs the sizes that have folds, {sizes} examples per "
                f"class, got sizes {list(self.sizes or ())}; add these sizes"
            )

    @property
    def settings(self) -> list[Setting]:
        """All settings."""
        return [
            Setting(data, distribution, size)
            for data in self.datasets
            for distribution in self.distributions
            for size in (self.sizes or paper_sizes(data))
        ]

    @property
    def entries(self) -> list[tuple[Setting, str]]:
        """Pairs of setting and variant; a variant that fits its temperature needs folds."""
        return [
            (setting, variant)
            for setting in self.settings
            for variant in self.variants
            if not _is_fitted(variant) or self._is_reference(setting)
        ]

    def rates(self, variant: str) -> tuple[Number, ...]:
        """The learning rates that a variant chooses from."""
        factor = VARIANTS[variant].rate_factor
        return tuple(factor * rate for rate in self.learning_rates)

    def reference(self, data: str, distribution: PaperDistribution) -> Setting:
        """The setting in which learning rates are chosen."""
        wanted = _REFERENCE_SIZES[distribution]
        size = next(size for size in paper_sizes(data) if size >= wanted)
        return Setting(data, distribution, size)

    def config(self, setting: Setting, variant: str) -> RunConfig:
        """The config of a run, except for its learning rate and seed."""
        folds = self.folds if self._is_reference(setting) else 0
        if _is_fitted(variant):
            folds = folds or RunConfig.folds
        base = RunConfig(
            data=setting.data,
            distribution=setting.distribution,
            train_examples=setting.examples,
            population="uniform",
            folds=folds,
        )
        base = _with_budget(base, setting)
        if self.is_narrow and setting.data in _NARROW_UPDATES:
            base = replace(
                base, model=f"{base.model}-narrow", updates=_NARROW_UPDATES[setting.data]
            )
        if self.updates is not None:
            base = replace(base, updates=self.updates)
        return VARIANTS[variant].config(base, setting)

    def _is_reference(self, setting: Setting) -> bool:
        """Whether learning rates are chosen in this setting."""
        return setting == self.reference(setting.data, setting.distribution)


def _is_fitted(variant: str) -> bool:
    """Whether a variant fits its temperature."""
    return METHODS[VARIANTS[variant].method].temperature == "fit"


_NARROW_UPDATES = {"cifar10": 200, "cifar100": 100}


def _with_budget(base: RunConfig, setting: Setting) -> RunConfig:
    """The config with the model and the number of updates that suit the setting."""
    base = replace(base, **first_recipe(setting.class_sizes), **FIRST_FIT)
    if setting.data == "cifar10":
        updates = max(2000, math.ceil(30 * setting.examples / 60))
        return replace(base, model="resnet18", examples=60, updates=updates, shift=4, flip=True)
    if setting.data == "cifar100":  # a pool needs two examples of every class
        updates = max(2000, math.ceil(30 * setting.examples / 200))
        return replace(base, model="resnet34", examples=200, updates=updates, shift=4, flip=True)
    if setting.examples <= 1000:
        return base
    return replace(base, examples=60, updates=max(500, math.ceil(3 * setting.examples / 60)))


FEW_SHOT_SIZES = (10, 20, 30, 40, 50, 100)

PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            name="smoke",
            datasets=("mnist", "fashion_mnist"),
            sizes=(10,),
            seeds=2,
            learning_rates=(0.1,),
            folds=0,
            updates=40,
        ),
        Preset(
            name="few-shot",
            datasets=("mnist", "fashion_mnist"),
            sizes=FEW_SHOT_SIZES,
            variants=(*PAPER_METHODS, "oko-paper"),
        ),
        Preset(
            name="cifar",
            datasets=("cifar10", "cifar100"),
            distributions=("uniform",),
            sizes=(50,),
            variants=("vanilla", "bb", "bb+ls", "oko"),
            seeds=3,
            learning_rates=(0.1,),
            folds=0,
            is_narrow=True,
        ),
        Preset(name="paper", datasets=("mnist", "fashion_mnist", "cifar10", "cifar100")),
    )
}


def preset_named(
    name: str,
    *,
    datasets: Sequence[str] | None = None,
    distributions: Sequence[str] | None = None,
    sizes: Sequence[int] | None = None,
    variants: Sequence[str] | None = None,
    seeds: int | None = None,
    updates: int | None = None,
) -> Preset:
    """A preset by name; every argument that is given replaces the preset's own value."""
    one_of("preset", name, PRESETS)
    changes: dict[str, Any] = {
        "datasets": datasets,
        "distributions": distributions,
        "sizes": sizes,
        "variants": variants,
    }
    given: dict[str, Any] = {
        key: tuple(dict.fromkeys(value)) for key, value in changes.items() if value
    }
    numbers: dict[str, Any] = {"seeds": seeds, "updates": updates}
    given |= {key: value for key, value in numbers.items() if value is not None}
    return replace(PRESETS[name], **given)
