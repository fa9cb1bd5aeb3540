"""The command that repeats a comparison."""

import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.config import RunConfig
from oddkout.comparing.contestants import ALWAYS, OUTSIDERS, is_outsider
from oddkout.comparing.criterion import chosen_criterion
from oddkout.comparing.saved import COSTS
from oddkout.comparing.verdict import GUESS
from oddkout.fitting.recipe import Recipe, suited_to

# The fields of a config that are options of ``oddkout compare``.
_READING = ("distribution", "train_examples", "target", "test", "test_size", "image_size", "group",
            "rare_below")  # fmt: skip
_RECIPE = ("model", "updates", "examples", "dropout")


def reproducing_command(comparison: Comparison, *, out: str | Path) -> str:
    """The command that repeats a comparison; Python code if options do not suffice.

    Args:
        out: Folder of the runs.
    """
    config = comparison.setting
    of_first_seed = (run.train_counts for run in comparison.runs if run.config.seed == 0)
    counts = next(filter(None, of_first_seed), [])  # a failed run has none
    usual = suited_to(counts) if counts else {}
    recipe = {
        part.name: getattr(config, part.name)
        for part in fields(Recipe)
        if part.name != "learning_rate"
        and getattr(config, part.name) != usual.get(part.name, part.default)
    }
    reading = {
        name: getattr(config, name)
        for name in _READING
        if name == "distribution" or getattr(config, name) != getattr(RunConfig, name)
    }
    kinds = {name: getattr(config, name) for name in ("categorical", "text", "numeric")}
    options: dict[str, Any] = {
        "methods": [name for name in comparison.by_method if not is_outsider(name)],
        "seeds": comparison.seeds,
        "learning_rates": comparison.learning_rates,
        "folds": config.folds,
    }
    outsiders = [
        name
        for name, runs in comparison.by_method.items()
        if is_outsider(name) and name not in ALWAYS and not runs[0].config.contestant
    ]
    if outsiders:
        options["contestants"] = outsiders
    if raw := [name for name in outsiders if comparison.by_method[name][0].config.is_raw]:
        options["raw"] = raw
    if chosen := [name for name in comparison.choices if name != "learning_rate"]:
        options["choose"] = chosen
    if isinstance(config.population, tuple):
        options["prior"] = list(config.population)
    if comparison.costs is not None:
        options["costs"] = str(Path(out) / COSTS)
    if comparison.criterion != chosen_criterion(None, has_costs=comparison.costs is not None):
        options["criterion"] = comparison.criterion
    if config.members != RunConfig.members:
        options["members"] = config.members
    if recipe.keys() - set(_RECIPE):
        reading |= {name: columns for name, columns in kinds.items() if columns}
        arguments = options | {"recipe": recipe, "out": str(out)} | reading
        lines = [f"    {name}={value!r},\n" for name, value in arguments.items()]
        return f"import oddkout as oko\n\noko.compare(\n    {config.data!r},\n{''.join(lines)})"
    lines = [f"oddkout compare {shlex.quote(config.data)}"]
    lines += [
        f"--{name.replace('_', '-')} {shlex.quote(_as_option(value))}"
        for name, value in (options | reading | recipe).items()
    ]
    lines += [f"--{name} {shlex.quote(column)}" for name in kinds for column in kinds[name]]
    return " \\\n  ".join([*lines, f"--out {shlex.quote(str(out))}"])


def _as_option(value: Any) -> str:
    """A value as typed on the command line."""
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def training_command(comparison: Comparison, *, runs: str | Path) -> str | None:
    """The command that trains the winner, or the best of ours if no file may name the winner.

    Args:
        runs: Folder of the comparison.

    Returns:
        None if there is nothing to train: no winner, or guessing wins.
    """
    winner = comparison.winner
    if winner is None or winner == GUESS:
        return None
    data, folder = shlex.quote(comparison.setting.data), shlex.quote(str(runs))
    if winner in OUTSIDERS or not is_outsider(winner):
        return f"oddkout train {data} --method best --from {folder} --out model"
    ours = comparison.best_of_ours
    target = comparison.setting.target
    column = "" if target is None else f" --target {shlex.quote(target)}"
    return None if ours is None else f"oddkout train {data}{column} --method {ours} --out model"


def checking_command(comparison: Comparison) -> str:
    """The command that checks the data of a comparison."""
    config = comparison.setting
    parts = [f"oddkout doctor {shlex.quote(config.data)}"]
    for name in ("target", "group"):
        if getattr(config, name) is not None:
            parts.append(f"--{name} {shlex.quote(getattr(config, name))}")
    return " ".join(parts)
