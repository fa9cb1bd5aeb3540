"""``oko.compare``: a fair comparison of methods, with all defaults."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any

from oddkout.checks import Number, at_least, one_of
from oddkout.comparing.comparison import Comparison
from oddkout.comparing.config import RunConfig
from oddkout.comparing.executors import Executor
from oddkout.comparing.executors.local import LocalExecutor
from oddkout.comparing.fingerprint import identified
from oddkout.comparing.grid import GridProgress, perform_grid
from oddkout.comparing.perform import check, data_for
from oddkout.comparing.saved import save_comparison
from oddkout.comparing.sources import stored_source
from oddkout.comparing.store import RunStore
from oddkout.comparing.tuning import perform_tuned
from oddkout.data import Data
from oddkout.data.sources import DataSource
from oddkout.fitting.folds import FOLDS
from oddkout.fitting.methods import METHODS
from oddkout.fitting.recipe import LEARNING_RATES, Recipe, changed_recipe

# The arguments of ``load_data`` that a run keeps.
_READING = ("target", "test", "test_size", "image_size", "categorical", "distribution",
            "train_examples")  # fmt: skip

# The subset of the embedded digits that a comparison trains on unless told otherwise.
_DIGITS_SUBSET = {"distribution": "heavy-tailed", "train_examples": 200}


def compare(
    source: DataSource = "digits",
    *,
    methods: Sequence[str] = tuple(METHODS),
    seeds: int = 5,
    learning_rates: Sequence[Number] = LEARNING_RATES,
    folds: int = FOLDS,
    recipe: Mapping[str, Any] | None = None,
    out: str | Path = "runs",
    retry_failed: bool = False,
    executor: Executor | None = None,
    progress: GridProgress | None = None,
    **reading: Any,
) -> Comparison:
    """Compare methods on one data set.

    Every method gets the same splits, subsets, number of updates and examples, and chooses its
    learning rate from the same list by out-of-fold NLL on the first seed. Each finished run is
    stored at once; call it again to resume. A failed run is tried again only with
    ``retry_failed``. The comparison is saved as ``comparison.json`` beside its runs.

    Args:
        source: Anything that ``load_data`` takes; the embedded digits, 200 examples of a
            heavy-tailed distribution, if not given. Data in memory are copied into ``out``.
        methods: Names of the methods.
        seeds: Number of seeds.
        learning_rates: The learning rates to choose from.
        folds: Number of folds that choose the learning rate and fit the temperature; 0 for none,
            which needs a single learning rate.
        recipe: Parts of ``Recipe`` to change, e.g. ``{"updates": 300}``.
        out: Folder for the runs.
        retry_failed: Whether runs of this comparison that failed before are tried again.
        executor: Where runs are performed; in processes of this machine if not given.
        progress: Called at the start of each half, and whenever a run has been stored.
        **reading: Further arguments of ``load_data``, such as ``target`` and ``test``.
    """
    at_least("seeds", seeds, 1)
    if not methods or not learning_rates:
        raise ValueError("a comparison needs at least one method and one learning rate")
    for name in methods:
        one_of("method", name, METHODS)
    if len(learning_rates) > 1 and not folds:
        raise ValueError(
            f"choosing among {len(learning_rates)} learning rates needs folds, got folds=0; set "
            "folds to 5, or give one learning rate"
        )
    store = RunStore(out)
    config = setting(source, folds=folds, recipe=recipe, out=out, **reading)
    entries = [replace(config, method=name) for name in dict.fromkeys(methods)]
    if retry_failed:
        store.forget_failed(
            replace(entry, learning_rate=rate, seed=seed)
            for entry, rate, seed in product(entries, learning_rates, range(seeds))
        )
    chosen_executor = executor or LocalExecutor()  # one for both halves: its processes are kept
    runs, tuning = perform_tuned(
        entries,
        learning_rates=learning_rates,
        seeds=range(seeds),
        perform=lambda configs: perform_grid(
            configs, store, executor=chosen_executor, progress=progress
        ),
    )
    comparison = Comparison(runs=runs, tuning=tuning, folder=Path(out))
    save_comparison(comparison)
    return comparison


def setting(
    source: DataSource,
    *,
    folds: int = FOLDS,
    recipe: Mapping[str, Any] | None = None,
    out: str | Path,
    **reading: Any,
) -> RunConfig:
    """The config that all runs of a comparison share; the arguments are those of ``compare``.

    Method, learning rate and seed are still open.
    """
    _refuse_unknown(reading)
    if isinstance(source, str) and source == "digits":
        is_given = "distribution" in reading or "train_examples" in reading
        reading = ({} if is_given else _DIGITS_SUBSET) | reading
    given = {name: value for name, value in reading.items() if value is not None}
    categorical = tuple(given.pop("categorical", ()))
    path, options = stored_source(source, Path(out), given)
    config = RunConfig(data=path, folds=folds, categorical=categorical, **options)
    data = data_for(config)
    is_benchmark = data.is_benchmark or (isinstance(source, Data) and source.is_benchmark)
    config = replace(
        config,
        population="uniform" if is_benchmark else "train",
        **changed_recipe(data.class_sizes, recipe or {}),
    )
    check(config)
    return identified(config)


def _refuse_unknown(reading: Mapping[str, Any]) -> None:
    """Raise for arguments that no run would see."""
    for name in reading:
        if name in _READING:
            continue
        hint = f"the data are read with {', '.join(_READING)}"
        if name in {part.name for part in fields(Recipe)}:
            hint = f"pass it as recipe={{{name!r}: ...}}"
        elif name == "data_dir":
            hint = "set the environment variable ODDKOUT_DATA, which all processes see"
        raise TypeError(f"compare() has no argument {name!r}; {hint}")
