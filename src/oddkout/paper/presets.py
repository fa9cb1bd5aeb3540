"""Presets: the grids of ``oddkout reproduce``, from a few minutes to the whole paper."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from oddkout.checks import at_least, one_of
from oddkout.comparing.config import RunConfig
from oddkout.paper.budgets import budget
from oddkout.paper.choosing import Choosing, Picked, chosen_as, with_choices
from oddkout.paper.settings import DISTRIBUTIONS, SIZES, TITLES, PaperDistribution, Setting
from oddkout.paper.variants import ADJUSTED_METHODS, VARIANTS

# With equal class sizes these are the same method by definition. The first one is not trained: the
# runs of the second count for both.
SAME_ON_UNIFORM = {"weighted": "vanilla"}

# Adjustment for a uniform prior changes nothing: the first is run on heavy tails only.
ONLY_HEAVY = {"vanilla+ls+la": "vanilla+ls"}


@dataclass(frozen=True, kw_only=True)
class Part:
    """Settings that share their variants and seeds.

    Attributes:
        datasets: Names of known data sets.
        distributions: Distributions of the classes.
        sizes: Examples per class.
        variants: Names of variants, the rows of the tables.
        seeds: The seeds.
    """

    datasets: tuple[str, ...]
    distributions: tuple[PaperDistribution, ...] = DISTRIBUTIONS
    sizes: tuple[int, ...]
    variants: tuple[str, ...]
    seeds: tuple[int, ...]

    def __post_init__(self) -> None:
        for data in self.datasets:
            one_of("dataset", data, TITLES)
        for distribution in self.distributions:
            one_of("distribution", distribution, DISTRIBUTIONS)
        for variant in self.variants:
            one_of("method", variant, VARIANTS)
        for size in self.sizes:
            at_least("size", size, 2)

    @property
    def entries(self) -> list[tuple[Setting, str, int]]:
        """Setting, variant and seed of every run."""
        return [
            (Setting(data, distribution, size), variant, seed)
            for data in self.datasets
            for distribution in self.distributions
            for size in self.sizes
            for variant in self.variants
            if distribution != "uniform" or variant not in ONLY_HEAVY
            for seed in self.seeds
        ]


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A grid of runs, and how their recipes are found.

    Attributes:
        name: The name that users type.
        parts: The runs.
        choices: What is chosen for which settings; none for the defaults.
        updates: Number of updates; by default it depends on the setting.
        is_narrow: Whether ResNets have a quarter of their width and few updates, for a CPU.
        has_protocol: Whether ``docs/protocol.md`` describes the grid.
    """

    name: str
    parts: tuple[Part, ...]
    choices: tuple[Choosing, ...] = ()
    updates: int | None = None
    is_narrow: bool = True
    has_protocol: bool = False

    @property
    def entries(self) -> list[tuple[Setting, str, int]]:
        """Setting, variant and seed of every run, each once."""
        return list(dict.fromkeys(entry for part in self.parts for entry in part.entries))

    @property
    def settings(self) -> list[Setting]:
        """All settings."""
        return list(dict.fromkeys(setting for setting, _, _ in self.entries))

    @property
    def variants(self) -> list[str]:
        """All variants."""
        return list(dict.fromkeys(variant for _, variant, _ in self.entries))

    def choosing(self, setting: Setting) -> Choosing | None:
        """What is chosen for a setting; none if its recipe is fixed."""
        return next((group for group in self.choices if group.covers(setting)), None)

    def config(self, setting: Setting, variant: str, picked: Picked | None = None) -> RunConfig:
        """The config of a run, except for its seed: one network, without folds.

        Args:
            setting: The setting.
            variant: The variant.
            picked: What was chosen for it.
        """
        base = RunConfig(
            data=setting.data,
            distribution=setting.distribution,
            train_examples=setting.examples,
            population="uniform",
            folds=0,
            members="single",
            calibrate="none",
            **budget(setting, is_narrow=self.is_narrow),
        )
        if self.updates is not None:
            base = replace(base, updates=self.updates)
        return with_choices(VARIANTS[variant].config(base, setting), picked or {})

    def chosen_variants(self, group: Choosing) -> list[str]:
        """The variants for which a group of settings makes its choices."""
        covered = [variant for setting, variant, _ in self.entries if group.covers(setting)]
        return list(dict.fromkeys(chosen_as(variant) for variant in covered))


BASELINES = ("vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls", "bb+ts")
ABLATIONS = ("pair", "oko-k1", "oko-k2", "oko-k3", "oko-soft", "oko-soft-k2", "oko-soft-k3")
_MNIST = ("mnist", "fashion_mnist")
_FEW, _MANY = tuple(size for size in SIZES if size <= 100), (500, 1000, 2000)
FIVE, THREE = (40, 41, 42, 43, 44), (40, 41, 42)
_ALL = (*BASELINES, "oko", *ADJUSTED_METHODS)
_LISTS = {"learning_rate": (0.2, 0.1, 0.4), "dropout": (0.3, 0.5), "own": (1.0, 0.3)}
_FOUR = ("vanilla", "bb", "bb+ts", "bb+ls", "oko")

PRESETS = {
    preset.name: preset
    for preset in (
        Preset(
            name="smoke",
            parts=(Part(datasets=_MNIST, sizes=(10,), variants=tuple(VARIANTS), seeds=(0, 1)),),
            updates=40,
        ),
        Preset(
            name="paper",
            parts=(
                Part(datasets=_MNIST, sizes=_FEW, variants=_ALL, seeds=FIVE),
                Part(datasets=_MNIST, sizes=_MANY, variants=_ALL, seeds=THREE),
                Part(datasets=_MNIST, sizes=(10, 50), variants=ABLATIONS, seeds=FIVE),
                Part(datasets=_MNIST, sizes=(500,), variants=ABLATIONS, seeds=THREE),
            ),
            choices=(
                Choosing(
                    datasets=_MNIST,
                    sizes=(_FEW[0], _FEW[-1]),
                    lists=_LISTS,
                    references=(
                        (Setting("mnist", "uniform", 10), 0),
                        (Setting("fashion_mnist", "uniform", 10), 1),
                        (Setting("mnist", "heavy-tailed", 20), 2),
                        (Setting("fashion_mnist", "heavy-tailed", 20), 3),
                    ),
                    folds=5,
                ),
                Choosing(
                    datasets=_MNIST,
                    sizes=(_MANY[0], _MANY[-1]),
                    lists=_LISTS,
                    references=(
                        (Setting("mnist", "heavy-tailed", 500), 4),
                        (Setting("fashion_mnist", "uniform", 500), 4),
                    ),
                    folds=1,
                ),
            ),
            has_protocol=True,
        ),
        Preset(
            name="cifar",
            parts=(
                Part(datasets=("cifar10",), sizes=(40, 100), variants=_FOUR, seeds=THREE),
                Part(datasets=("cifar100",), sizes=(40,), variants=_FOUR, seeds=THREE),
                Part(
                    datasets=("cifar10",), sizes=(40,), variants=(*BASELINES, *ABLATIONS[:5]),
                    seeds=THREE,
                ),
            ),
            choices=(
                Choosing(
                    datasets=("cifar10", "cifar100"),
                    sizes=(40, 100),
                    lists={"learning_rate": (0.1, 0.2), "updates": (1.0, 0.5)},
                    references=(
                        (Setting("cifar10", "uniform", 40), 0),
                        (Setting("cifar10", "heavy-tailed", 40), 1),
                    ),
                    folds=3,
                ),
            ),
            has_protocol=True,
        ),
        Preset(
            name="cluster",
            parts=(
                Part(
                    datasets=("cifar10",), sizes=tuple(size for size in SIZES if size >= 40),
                    variants=(*_ALL, *ABLATIONS), seeds=FIVE,
                ),
                Part(
                    datasets=("cifar100",), sizes=(40, 50, 100), variants=(*_ALL, *ABLATIONS),
                    seeds=FIVE,
                ),
            ),
            is_narrow=False,
        ),
    )
}  # fmt: skip


# The grids of the protocol together, which tables and claims are made from.
PROTOCOL_GRID = Preset(
    name="protocol",
    parts=(*PRESETS["paper"].parts, *PRESETS["cifar"].parts),
    choices=(*PRESETS["paper"].choices, *PRESETS["cifar"].choices),
    has_protocol=True,
)


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
    """A preset by name, with other values if given; a grid with a protocol can only be restricted.

    Args:
        seeds: Number of seeds: the first ones of the preset.
        updates: Number of updates; not for a grid with a protocol.
    """
    one_of("preset", name, PRESETS)
    preset = PRESETS[name]
    given: dict[str, tuple[Any, ...]] = {
        key: tuple(dict.fromkeys(values))
        for key, values in (
            ("datasets", datasets),
            ("distributions", distributions),
            ("sizes", sizes),
            ("variants", variants),
        )
        if values
    }
    if seeds is not None:
        at_least("seeds", seeds, 1)
    if preset.has_protocol:
        if updates is not None:
            raise ValueError(
                f"the protocol fixes the updates of preset {name}, got {updates}; leave them out"
            )
        parts = _restricted(preset, given)
    else:
        parts = tuple(replace(part, **given) for part in preset.parts)
    if seeds is not None:
        parts = tuple(replace(part, seeds=_first(part.seeds, seeds)) for part in parts)
    if updates is not None:
        at_least("updates", updates, 1)
    return replace(preset, parts=parts, updates=preset.updates if updates is None else updates)


def _restricted(preset: Preset, given: dict[str, tuple[Any, ...]]) -> tuple[Part, ...]:
    """The parts without what was not asked for."""
    parts = preset.parts
    for key, wanted in given.items():
        known = dict.fromkeys(str(value) for part in parts for value in getattr(part, key))
        for value in wanted:
            one_of(f"{key} of preset {preset.name}", str(value), known)
        parts = tuple(
            replace(part, **{key: kept})
            for part in parts
            if (kept := tuple(value for value in getattr(part, key) if value in wanted))
        )
    return parts


def _first(seeds: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The first seeds; more than there are continue from the last one."""
    more = range(seeds[-1] + 1, seeds[0] + count)
    return (*seeds, *more)[:count]
