"""``oko.compare``: a fair comparison of methods on one data set."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from oddkout.checks import Number, at_least, few
from oddkout.comparing.comparison import Comparison
from oddkout.comparing.config import RunConfig
from oddkout.comparing.contestants import ALWAYS, OUTSIDERS, checked_contestants, description
from oddkout.comparing.criterion import chosen_criterion, priced
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
from oddkout.decisions.cost_table import cost_table
from oddkout.diagnosis.doctor import doubts
from oddkout.fitting.folds import suitable_folds
from oddkout.fitting.methods import DEFAULT_METHODS, METHODS, TABLE_METHODS, method_names
from oddkout.fitting.pipeline import MembersOption
from oddkout.fitting.recipe import Recipe, changed_recipe
from oddkout.fitting.selection import LEARNING_RATES, checked_choices
from oddkout.prior import requested_population

# The arguments of ``load_data`` that a comparison accepts.
_READING = ("target", "test", "test_size", "image_size", "categorical", "text", "numeric",
            "rare_below", "group", "groups", "distribution", "train_examples")  # fmt: skip

# Limit in seconds for contestants that are not ours.
TIME_LIMIT = 600

# The default subset of the embedded digits.
_DIGITS_SUBSET = {"distribution": "heavy-tailed", "train_examples": 200}


def compare(
    source: DataSource = "digits",
    *,
    methods: Sequence[str] | None = None,
    contestants: Mapping[str, Any] | Sequence[str] = (),
    raw: Sequence[str] = (),
    time_limit: Number | None = TIME_LIMIT,
    seeds: int = 5,
    learning_rates: Sequence[Number] = LEARNING_RATES,
    choose: Sequence[str] = (),
    folds: int | None = None,
    members: MembersOption = "folds",
    recipe: Mapping[str, Any] | None = None,
    prior: Any = None,
    costs: Any = None,
    criterion: str | None = None,
    out: str | Path = "runs",
    retry_failed: bool = False,
    executor: Executor | None = None,
    progress: GridProgress | None = None,
    **reading: Any,
) -> Comparison:
    """Compare methods on one data set.

    All methods get the same splits, subsets, examples per update and largest number of updates.
    Each chooses its learning rate from the same list, by out-of-fold NLL on the first seed, and
    when to stop, by out-of-fold NLL of each seed. Every finished run is stored at once; call
    ``compare`` again to resume. The comparison is saved as ``comparison.json`` in the folder of its
    runs.

    Args:
        source: Anything that ``load_data`` takes; by default 200 examples of the embedded digits
            with a heavy-tailed class distribution. Data in memory are copied to ``out``.
        methods: Names of our methods, see ``oddkout methods``; by default eight that suit images or
            tables, ``["all"]`` for every one that suits the data, ``[]`` for contestants alone.
        contestants: Classifiers of others that take part: names (``"forest"``, ``"boosting"``,
            ``"svm"``, ``"mlp"``, ``"catboost"``, ``"tabpfn"``, ``"package.module:factory"``), or a
            mapping from names to objects with ``fit`` and ``predict_proba``. They get the same
            splits, folds, encoded features and calibration. Guessing the class frequencies and
            logistic regression always take part.
        raw: Names of your contestants that get the columns of a table as a pandas frame, before
            they are encoded, such as a pipeline with its own preprocessing.
        time_limit: Limit in seconds for one fit of such a contestant with its folds; None for none.
            Guessing and logistic regression have no limit.
        seeds: Number of seeds.
        learning_rates: Learning rates to choose from.
        choose: Further choices, see ``oddkout.fit``; made on the first seed.
        folds: Number of cross-validation folds, see ``oddkout.fit``; 0 for none, which requires a
            single learning rate.
        members: Whether the networks of the folds predict together, or a single one.
        recipe: Fields of ``Recipe`` to change, e.g. ``{"updates": 300}``.
        prior: Class frequencies that all contestants are judged for: ``"train"``, ``"uniform"``, a
            frequency for each class, or a mapping from class names to frequencies. By default
            those of the training part; for known benchmark data sets equal ones, as in the paper.
        costs: What answers cost, see ``cost_table``: a matrix with a row per class, a pandas frame
            or a CSV file. Table, verdict and report then hold the cost per case.
        criterion: What the winner is chosen by, always out of fold: ``"nll"``, ``"accuracy"`` or
            ``"cost"``. By default cost if ``costs`` are given, else NLL. Learning rates and stops
            are chosen by NLL whatever the criterion.
        out: Folder for the runs.
        retry_failed: Whether to retry runs of this comparison that failed before.
        executor: Where to perform runs; by default in processes on this machine.
        progress: Called at the start of tuning and of the final runs, and after each stored run.
        **reading: Further arguments of ``load_data``, such as ``target`` and ``test``.
    """
    at_least("seeds", seeds, 1)
    if (methods is not None and not methods and not contestants) or not learning_rates:
        raise ValueError("a comparison needs at least one method and one learning rate")
    names = method_names(DEFAULT_METHODS if methods is None else methods)
    outsiders = checked_contestants(contestants)
    _refuse_other_raw(raw, outsiders)
    choices = checked_choices(choose, learning_rates=learning_rates)
    if folds == 0 and (len(choices["learning_rate"]) > 1 or choose):
        raise ValueError(
            f"choosing among {len(choices['learning_rate'])} learning rates"
            f"{''.join(f' and {name}' for name in choose)} needs folds, got folds=0; set folds to "
            "5, or give one learning rate and nothing else to choose"
        )
    store = RunStore(out)
    wins_by = chosen_criterion(criterion, has_costs=costs is not None)
    config = setting(
        source, folds=folds, members=members, recipe=recipe, prior=prior, out=out, **reading
    )
    table = None if costs is None else cost_table(costs, classes=data_for(config).classes)
    if wins_by != "nll" and config.folds == 0:
        raise ValueError(
            f"the winner by {wins_by} is chosen out of fold, got folds=0; set folds to 5"
        )
    is_table = np.asarray(data_for(config).x_train[:1]).ndim == 2
    if methods is None and is_table:
        names = list(TABLE_METHODS)
    elif methods is not None and list(methods) == ["all"] and not is_table:
        names = [name for name in names if not METHODS[name].is_for_tables]
    entries = [
        replace(
            config,
            method=name,
            contestant="" if estimator is None else description(estimator),
            estimator=estimator,
            is_raw=name in raw,
            time_limit=None if name in ALWAYS else time_limit,
        )
        for name, estimator in outsiders.items()
    ]
    entries += [replace(config, method=name) for name in names]
    if retry_failed:
        store.forget_failed(
            replace(entry, learning_rate=rate, seed=seed)
            for entry, rate, seed in product(entries, learning_rates, range(seeds))
        )
    chosen_executor = executor or LocalExecutor()  # one for all, so that processes are reused
    runs, tuning = perform_tuned(
        entries,
        choices=choices,
        seeds=range(seeds),
        perform=lambda configs: perform_grid(
            configs, store, executor=chosen_executor, progress=progress
        ),
    )
    final = [store.read(run.config, has_predictions=True) for run in runs]
    comparison = Comparison(
        runs=final if table is None else priced(final, table),
        tuning=tuning,
        choices=choices,
        folder=Path(out),
        warnings=doubts(source, data_for(config), has_prior=prior is not None, **reading),
        criterion=wins_by,
        costs=table,
    )
    save_comparison(comparison)
    return comparison


def setting(
    source: DataSource,
    *,
    folds: int | None = None,
    members: MembersOption = "folds",
    recipe: Mapping[str, Any] | None = None,
    prior: Any = None,
    out: str | Path,
    **reading: Any,
) -> RunConfig:
    """The config that all runs share, with default method, learning rate and seed.

    The arguments are those of ``compare``.
    """
    _refuse_unknown(reading)
    if isinstance(source, str) and source == "digits":
        is_given = "distribution" in reading or "train_examples" in reading
        reading = ({} if is_given else _DIGITS_SUBSET) | reading
    given = {name: value for name, value in reading.items() if value is not None}
    kinds: dict[str, Any] = {
        name: tuple(given.pop(name, ())) for name in ("categorical", "text", "numeric")
    }
    path, options = stored_source(source, Path(out), given)
    config = RunConfig(data=path, members=members, **kinds, **options)
    data = data_for(config)
    is_benchmark = data.is_benchmark or (isinstance(source, Data) and source.is_benchmark)
    config = replace(
        config,
        population=requested_population(prior, names=data.classes, is_benchmark=is_benchmark),
        folds=suitable_folds(len(data.y_train)) if folds is None else folds,
        **changed_recipe(data.class_sizes, recipe or {}),
    )
    check(config)
    return identified(config)


def _refuse_other_raw(raw: Sequence[str], outsiders: Mapping[str, Any]) -> None:
    """Raise unless all names are contestants of the user; ours and built-in ones need numbers."""
    own = [name for name in outsiders if name not in OUTSIDERS]
    if other := [name for name in raw if name not in own]:
        raise ValueError(
            f"raw must name your own contestants, got {few(other)}; yours are {few(own) or 'none'}"
        )


def _refuse_unknown(reading: Mapping[str, Any]) -> None:
    """Raise for arguments that would have no effect."""
    for name in reading:
        if name in _READING:
            continue
        hint = f"the arguments of load_data that it takes are {', '.join(_READING)}"
        if name in {part.name for part in fields(Recipe)}:
            hint = f"pass it as recipe={{{name!r}: ...}}"
        elif name == "data_dir":
            hint = "set the environment variable ODDKOUT_DATA instead"
        raise TypeError(f"compare() has no argument {name!r}; {hint}")
