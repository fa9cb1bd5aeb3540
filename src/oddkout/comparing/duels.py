"""The settings of a folder of runs: its runs sorted into comparisons, from the runs alone."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run
from oddkout.comparing.tuning import best_config
from oddkout.data import KNOWN
from oddkout.fitting.methods import METHODS


def comparisons_in(runs: Iterable[Run]) -> list[Comparison]:
    """Sort runs into comparisons, one for each setting.

    A run does not say whether it tuned: the seed with most learning rates, the first of equals, is
    taken for the one that did, and the rate is chosen as ``perform_tuned`` chooses it. Of the runs
    with that rate those are compared whose seed every method has. Where a setting has runs with
    several k or heads, each is compared with the methods that have none.

    Args:
        runs: The runs, in any order.
    """
    settings: dict[RunConfig, dict[RunConfig, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run in sorted(runs, key=lambda run: run.config.id):
        contender = _without(run.config, "learning_rate", "seed")
        settings[setting_of(run.config)][contender].append(run)
    found = []
    for setting in sorted(settings, key=_order):
        contenders = settings[setting]
        variants = {(one.k, one.head) for one in contenders if takes_k(one.method)}
        for variant in sorted(variants, key=str) or [(None, None)]:
            chosen = [
                own
                for one, own in contenders.items()
                if not takes_k(one.method) or (one.k, one.head) == variant
            ]
            found.append(_compared(chosen))
    return found


def setting_of(config: RunConfig) -> RunConfig:
    """The config without what a comparison compares: method, k, head, learning rate and seed.

    Args:
        config: Config of a run.
    """
    return _without(config, "method", "k", "head", "learning_rate", "seed")


def takes_k(method: str) -> bool:
    """Whether a method has odd classes, the number of which can be chosen.

    Args:
        method: Name of the method.
    """
    return METHODS[method].loss == "sets" and method != "pair"


def titles(comparisons: Sequence[Comparison]) -> list[str]:
    """What each setting is called; what tells it from others of the same name is added.

    Args:
        comparisons: Comparisons of different settings.
    """
    configs = [_variant(comparison) for comparison in comparisons]
    plain = [_title(config) for config in configs]
    counts = Counter(plain)
    shown = []
    for config, title in zip(configs, plain, strict=True):
        namesakes = [asdict(other) for other, same in zip(configs, plain, strict=True)
                     if same == title]  # fmt: skip
        own = asdict(config)
        differing = [name for name in own if any(one[name] != own[name] for one in namesakes)]
        extra = ", ".join(f"{name.replace('_', ' ')} {own[name]}" for name in differing)
        shown.append(f"{title}; {extra}" if counts[title] > 1 else title)
    return shown


def _compared(contenders: Sequence[Sequence[Run]]) -> Comparison:
    """The comparison of some methods, given all runs of each."""
    tuning: list[Run] = []
    final: list[list[Run]] = []
    for own in contenders:
        rates = Counter(run.config.seed for run in own)
        first = min(rates, key=lambda seed: (-rates[seed], seed))
        candidates = [run for run in own if run.config.seed == first]
        rate = best_config(candidates).learning_rate
        tuning += candidates
        final.append([run for run in own if run.config.learning_rate == rate])
    # The seed that most methods have decides who takes part at all: a method without it waits.
    counts = Counter(seed for own in final for seed in _seeds(own))
    anchor = min(counts, key=lambda seed: (-counts[seed], seed))
    taking_part = [own for own in final if anchor in _seeds(own)]
    shared = set.intersection(*map(_seeds, taking_part))
    runs = [run for own in taking_part for run in own if run.config.seed in shared]
    paired = {run.config for run in runs}
    unpaired = [run for own in final for run in own if run.config not in paired]
    return Comparison(runs=runs, tuning=tuning, unpaired=unpaired)


def _seeds(runs: Sequence[Run]) -> set[int]:
    return {run.config.seed for run in runs}


def _without(config: RunConfig, *names: str) -> RunConfig:
    """The config with some of its fields as they are by default."""
    return replace(config, **{name: getattr(RunConfig, name) for name in names})


def _variant(comparison: Comparison) -> RunConfig:
    """The setting of a comparison, with its k and head if a method has any."""
    configs = [run.config for run in comparison.runs]
    with_k = next((one for one in configs if takes_k(one.method)), configs[0])
    return replace(setting_of(with_k), k=with_k.k, head=with_k.head)


def _title(config: RunConfig) -> str:
    """What a setting is called."""
    name = config.data if config.data in KNOWN else Path(config.data).name
    if config.distribution == "all":
        return f"{name}, all training examples"
    return f"{name}, {config.distribution}, {config.train_examples:,} training examples"


def _order(config: RunConfig) -> tuple[str, str, int, str]:
    """Settings in the order of a report: by data, distribution and size."""
    return (config.data, config.distribution, config.train_examples or 0, config.id)
