"""The learning rate of every method, chosen out of fold on the first seed, and runs with it."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean

from oddkout.checks import Number
from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run

# Performs configs, returns their runs in the same order.
Perform = Callable[[list[RunConfig]], list[Run]]


def perform_tuned(
    configs: Iterable[RunConfig],
    *,
    learning_rates: Sequence[Number],
    seeds: Sequence[int],
    perform: Perform,
) -> tuple[list[Run], list[Run]]:
    """Perform every config with each rate on the first seed, then with the best on all seeds.

    Every method gets the same budget. The best rate has the lowest out-of-fold NLL, tempered out
    of fold too; the test part is not looked at. A rate with which training fails is no candidate.

    Args:
        configs: One config for each method and setting; their rates and seeds are replaced.
        learning_rates: The candidates.
        seeds: The seeds; the first one tunes.
        perform: Performs configs.

    Returns:
        The runs with the best rates, seed by seed within a config, and all runs that tuned.
    """
    rates = list(dict.fromkeys(learning_rates))
    candidates = [
        [replace(config, learning_rate=rate, seed=seeds[0]) for rate in rates]
        for config in dict.fromkeys(configs)
    ]
    tuning = perform([config for grid in candidates for config in grid])
    # By their order: a run that was stored before may have read the same data elsewhere.
    remaining = iter(tuning)
    best = [
        replace(grid[0], learning_rate=best_config([next(remaining) for _ in grid]).learning_rate)
        for grid in candidates
    ]
    final = perform([replace(config, seed=seed) for config in best for seed in seeds])
    return final, tuning


def chosen_rate(runs: Sequence[Run]) -> Number:
    """The learning rate that serves all settings, by mean out-of-fold NLL on the first seed.

    One setting of a hundred examples cannot tell two rates apart; several together can. Settings
    that were not tried with every rate have no say. Where none was, it is the rate of most runs.

    Args:
        runs: Runs of one method in any number of settings, tuning included.
    """
    rates = sorted({run.config.learning_rate for run in runs})
    first = min(run.config.seed for run in runs)
    nll: dict[RunConfig, dict[Number, float]] = {}
    for run in runs:
        if run.config.seed == first and not run.has_failed and run.fold_metrics:
            setting = replace(run.config, learning_rate=1)
            nll.setdefault(setting, {})[run.config.learning_rate] = run.fold_metrics["nll"]
    whole = [found for found in nll.values() if len(found) == len(rates)]
    if whole:
        return min(rates, key=lambda rate: fmean(found[rate] for found in whole))
    counts = Counter(run.config.learning_rate for run in runs)
    return max(rates, key=lambda rate: counts[rate])


def best_config(runs: Sequence[Run]) -> RunConfig:
    """The config of the lowest out-of-fold NLL; of equals, and without NLL, the lowest rate.

    The order of the runs does not matter, so that runs read from disk give the same answer.

    Args:
        runs: Runs of one method and one seed with different learning rates.
    """
    worked = [run for run in runs if not run.has_failed] or list(runs)
    return min(
        worked, key=lambda run: (run.fold_metrics.get("nll", math.inf), run.config.learning_rate)
    ).config
