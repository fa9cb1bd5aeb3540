"""Choose the recipe of a method out of fold: one choice after the other, by mean log NLL."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import lines

from oddkout.fitting.methods import Method
from oddkout.fitting.recipe import Recipe, suited_to
from oddkout.fitting.selection import alternatives

_FIELDS = ("learning_rate", "dropout", "smoothing", "gamma", "head_weight")


def start(sizes: Sequence[int]) -> Recipe:
    """The recipe before all choices."""
    return Recipe(**suited_to(sizes) | {"mixed_precision": True})


def changes_of(recipe: Recipe, base: Recipe) -> dict[str, Any]:
    """The chosen fields of a recipe."""
    return {name: getattr(recipe, name) for name in _FIELDS} if recipe != base else {}


def searched(
    name: str,
    method: Method,
    *,
    choices: Mapping[str, Sequence[Any]],
    seeds: Mapping[str, int],
    file: Path,
    perform: Callable[..., dict[str, Any]] | None = None,
) -> tuple[dict[str, Any], dict[tuple[Any, ...], float], bool]:
    """The chosen fields of a method, all compared ones with mean log NLL, and whether all are.

    Args:
        name: Name of the method in the lines.
        method: The method.
        choices: Candidates of every choice.
        seeds: Settings, each with its seed; all have the defaults of ten examples per class.
        file: Lines of what was tried.
        perform: Performs what has no line yet.
    """
    base = start([10] * 10)
    best: dict[str, Any] = {}
    compared: dict[tuple[Any, ...], float] = {}
    for choice, values in choices.items():
        current = replace(base, **best)
        for candidate in alternatives(current, choice, values, method=method, start=base):
            changes = changes_of(candidate, base)
            key = tuple(sorted(changes.items(), key=str))
            if key not in compared:
                wanted = [
                    {"method": name, "setting": setting, "seed": seed, "changes": changes}
                    for setting, seed in seeds.items()
                ]
                if perform is not None:
                    lines.perform_missing(file, wanted, perform)
                known = lines.read(file)
                found = [one for one in known if any(w.items() <= one.items() for w in wanted)]
                if len(found) < len(wanted):
                    return best, compared, False
                compared[key] = fmean(math.log(one["nll"]) for one in found)
        best = dict(min(compared, key=lambda key: compared[key]))
    return best, compared, True
