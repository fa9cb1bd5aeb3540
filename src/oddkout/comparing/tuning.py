"""Choose the recipe of each method out of fold on the first seed; run all seeds with it."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from oddkout.checks import Number
from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run
from oddkout.fitting.selection import alternatives

# Performs configs and returns their runs in the same order.
Perform = Callable[[list[RunConfig]], list[Run]]


def perform_tuned(
    configs: Iterable[RunConfig],
    *,
    choices: Mapping[str, Sequence[Any]],
    seeds: Sequence[int],
    perform: Perform,
) -> tuple[list[Run], list[Run]]:
    """Make the choices of each config on the first seed, then perform the best on all seeds.

    All methods get the same lists. One choice follows the other; the best candidate has the lowest
    out-of-fold NLL, and the test part is not used. A candidate whose run failed is not eligible.

    Args:
        configs: One config for each method and setting; their learning rates and seeds are
            replaced.
        choices: What to choose, with the candidates; see ``checked_choices``.
        seeds: The seeds; the first one is used for tuning.
        perform: Performs configs and returns their runs.

    Returns:
        The runs with the best recipes, ordered by config and seed, and all tuning runs.
    """
    first = {
        config: replace(config, seed=seeds[0], learning_rate=choices["learning_rate"][0])
        for config in dict.fromkeys(configs)
    }
    best = dict(first)
    tuned: dict[RunConfig, Run] = {}
    for name, values in choices.items():
        candidates = {
            config: [start]
            if config.is_outsider or config.spec.is_for_tables  # which choose by themselves
            else alternatives(best[config], name, values, method=config.spec, start=start)
            for config, start in first.items()
        }
        wanted = [one for listed in candidates.values() for one in listed if one not in tuned]
        tuned |= zip(wanted, perform(wanted), strict=True)
        for config, listed in candidates.items():
            best[config] = best_config(listed, [tuned[one] for one in listed])
    final = perform([replace(config, seed=seed) for config in best.values() for seed in seeds])
    return final, list(tuned.values())


def chosen_rate(runs: Sequence[Run]) -> Number:
    """The learning rate with the lowest out-of-fold NLL on the first seed, averaged over settings.

    A single setting with a hundred examples is too noisy to choose a rate. Only settings that were
    run with every rate count. If there are none, the most frequent rate is returned.

    Args:
        runs: Runs of one method in any number of settings, including tuning runs.
    """
    rates = sorted({run.config.learning_rate for run in runs})
    first = min(run.config.seed for run in runs)
    nll: dict[RunConfig, dict[Number, float]] = {}
    for run in runs:
        if run.config.seed == first and not run.has_failed and run.fold_metrics:
            setting = replace(run.config, learning_rate=1)
            nll.setdefault(setting, {})[run.config.learning_rate] = run.fold_metrics["nll"]
    complete = [by_rate for by_rate in nll.values() if len(by_rate) == len(rates)]
    if complete:
        return min(rates, key=lambda rate: fmean(by_rate[rate] for by_rate in complete))
    counts = Counter(run.config.learning_rate for run in runs)
    return max(rates, key=lambda rate: counts[rate])


def best_config(configs: Sequence[RunConfig], runs: Sequence[Run]) -> RunConfig:
    """The config with the lowest out-of-fold NLL; on a tie, or without NLL, the first.

    Args:
        configs: Configs of one method and one seed with different recipes.
        runs: Their runs. A stored run may have read the same data from another path.
    """
    pairs = list(zip(configs, runs, strict=True))
    successful = [pair for pair in pairs if not pair[1].has_failed] or pairs
    return min(successful, key=lambda pair: pair[1].fold_metrics.get("nll", math.inf))[0]
