"""A fair duel of methods: the same data, budget and tuning for each, paired by seed."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from oddkout.checks import Number, at_least, one_of
from oddkout.comparing.comparison import Comparison
from oddkout.comparing.config import RunConfig
from oddkout.comparing.executors import Executor
from oddkout.comparing.executors.local import LocalExecutor
from oddkout.comparing.fingerprint import identified
from oddkout.comparing.grid import GridProgress, perform_grid
from oddkout.comparing.perform import check
from oddkout.comparing.store import RunStore
from oddkout.comparing.tuning import perform_tuned
from oddkout.fitting.methods import METHODS

LEARNING_RATES = (0.1, 0.2)


def compare(
    config: RunConfig | None = None,
    *,
    methods: Sequence[str] = tuple(METHODS),
    seeds: int = 5,
    learning_rates: Sequence[Number] = LEARNING_RATES,
    out: str | Path = "runs",
    retries_failed: bool = False,
    executor: Executor | None = None,
    progress: GridProgress | None = None,
) -> Comparison:
    """Compare methods on one setting.

    Every method sees the same splits and subsets, makes as many updates on as many examples, and
    chooses among the same learning rates by out-of-fold NLL on the first seed. Every finished run
    is on disk at once; called again after an interruption, it goes on. A run that failed is not
    tried again, unless that is asked for.

    Args:
        config: The setting and the recipe; the embedded digits, 200 examples of a heavy-tailed
            distribution, if not given. Its method, seed and learning rate are replaced.
        methods: The methods.
        seeds: Number of seeds.
        learning_rates: The learning rates to choose from.
        out: Folder for the runs.
        retries_failed: Whether runs of this comparison that failed before are tried again.
        executor: Where runs are performed; in processes of this machine if not given.
        progress: Called at the start of each half, and whenever a run has been stored.
    """
    at_least("seeds", seeds, 1)
    if not methods or not learning_rates:
        raise ValueError("a comparison needs at least one method and one learning rate")
    for name in methods:
        one_of("method", name, METHODS)
    if config is None:
        config = RunConfig(
            data="digits", distribution="heavy-tailed", train_examples=200, population="uniform"
        )
    check(config)
    config = identified(config)
    store = RunStore(out)
    entries = [_for_method(config, name) for name in dict.fromkeys(methods)]
    if retries_failed:
        store.forget_failed(
            replace(entry, learning_rate=rate, seed=seed)
            for entry, rate, seed in product(entries, learning_rates, range(seeds))
        )
    where = executor or LocalExecutor()  # one for both halves: its processes are kept
    runs, tuning = perform_tuned(
        entries,
        learning_rates=learning_rates,
        seeds=range(seeds),
        perform=lambda configs: perform_grid(configs, store, executor=where, progress=progress),
    )
    return Comparison(runs=runs, tuning=tuning)


def _for_method(config: RunConfig, name: str) -> RunConfig:
    """The config with a method; k and the head are for those that draw sets."""
    if METHODS[name].loss == "sets" and name != "pair":
        return replace(config, method=name)
    return replace(config, method=name, k=None, head=None)
