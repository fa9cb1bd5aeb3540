"""Choose the learning rate of each method out of fold on the first seed; run all seeds with it."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean

from oddkout.checks import Number
from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run

# Performs configs and returns their runs in the same order.
Perform = Callable[[list[RunConfig]], list[Run]]


def perform_tuned(
    configs: Iterable[RunConfig],
    *,
    learning_rates: Sequence[Number],
    seeds: Sequence[int],
    perform: Perform,
) -> tuple[list[Run], list[Run]]:
    """Perform each config with every learning rate on the first seed, then the best on all seeds.

    All methods get the same budget. The best rate has the lowest out-of-fold NLL, computed with an
    out-of-fold temperature; the test part is not used. A rate whose run failed is not eligible.

    Args:
        configs: One config for each method and setting; their rates and seeds are replaced.
        learning_rates: Candidates; duplicates are ignored.
        seeds: The seeds; the first one is used for tuning.
        perform: Performs configs and returns their runs.

    Returns:
        The runs with the best rates, ordered by config and seed, and all tuning runs.
    """
    rates = list(dict.fromkeys(learning_rates))
    candidates = [
        [replace(config, learning_rate=rate, seed=seeds[0]) for rate in rates]
        for config in dict.fromkeys(configs)
    ]
    tuning = perform([config for grid in candidates for config in grid])
    # By order, not by config: a stored run may have read the same data from another path.
    remaining = iter(tuning)
    best = [
        replace(grid[0], learning_rate=best_config([next(remaining) for _ in grid]).learning_rate)
        for grid in candidates
    ]
    final = perform([replace(config, seed=seed) for config in best for seed in seeds])
    return final, tuning


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


def best_config(runs: Sequence[Run]) -> RunConfig:
    """The config with the lowest out-of-fold NLL; on a tie, or without NLL, the lowest rate.

    The result does not depend on the order of the runs.

    Args:
        runs: Runs of one method and one seed with different learning rates.
    """
    successful = [run for run in runs if not run.has_failed] or list(runs)
    return min(
        successful,
        key=lambda run: (run.fold_metrics.get("nll", math.inf), run.config.learning_rate),
    ).config
