"""Choices that out-of-fold predictions make: short lists, the same for every method."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from oddkout.checks import Number, one_of
from oddkout.fitting.methods import Method
from oddkout.fitting.recipe import Recipe

# Default candidates for the learning rate.
LEARNING_RATES: tuple[Number, ...] = (0.1, 0.2)

# A recipe, or the config of a run, which is a recipe with more fields.
AnyRecipe = TypeVar("AnyRecipe", bound=Recipe)

# Candidates by the name of the choice. Weight decay and the weight of the second head depend on the
# data, so their candidates are factors.
CANDIDATES: Mapping[str, Sequence[Any]] = {
    "learning_rate": LEARNING_RATES,
    "dropout": (0.1, 0.3, 0.5),
    "weight_decay": (0.25, 1.0, 4.0),
    "own": (0.3, 1.0, 2.0),
    "augmentation": ("none", "shift", "shift and flip", "crop"),
}

# The fields of the recipe that each choice may change.
FIELDS: Mapping[str, tuple[str, ...]] = {
    "learning_rate": ("learning_rate",),
    "dropout": ("dropout",),
    "weight_decay": ("weight_decay",),
    "own": ("smoothing", "gamma", "head_weight"),
    "augmentation": ("shift", "flip", "crop"),
}

_AUGMENTATIONS: Mapping[str, dict[str, Any]] = {
    "none": {"shift": 0, "flip": False, "crop": 0.0},
    "shift": {"shift": 2, "flip": False, "crop": 0.0},
    "shift and flip": {"shift": 2, "flip": True, "crop": 0.0},
    "crop": {"shift": 0, "flip": False, "crop": 0.2},
}


def checked_choices(
    names: Sequence[str], *, learning_rates: Sequence[Number]
) -> dict[str, Sequence[Any]]:
    """The choices to make, in order, each with its candidates.

    Args:
        names: Further choices, see ``CANDIDATES``.
        learning_rates: Candidates for the learning rate.
    """
    if not learning_rates:
        raise ValueError("learning_rates must hold at least one rate, got none")
    for name in names:
        one_of("choose", name, CANDIDATES)
    choices: dict[str, Sequence[Any]] = {"learning_rate": tuple(sorted(set(learning_rates)))}
    return choices | {name: CANDIDATES[name] for name in names if name != "learning_rate"}


def alternatives(
    recipe: AnyRecipe, name: str, values: Sequence[Any], *, method: Method, start: Recipe
) -> list[AnyRecipe]:
    """The recipes that a choice compares, without duplicates; the given one comes first.

    ``own`` is the parameter that only some methods have: label smoothing, the gamma of the focal
    loss, or the weight of the odd-class head. Other methods have nothing to choose there.

    Args:
        recipe: The best recipe so far.
        name: Name of the choice.
        values: Its candidates.
        start: The recipe before all choices; factors refer to it.
    """
    found = [] if name == "learning_rate" else [recipe]
    for value in values:
        changes = _changes(name, value, method, start)
        if changes is not None and (changed := replace(recipe, **changes)) not in found:
            found.append(changed)
    return found or [recipe]


def runs_of(choices: Mapping[str, Sequence[Any]], *, recipe: Recipe, method: Method) -> int:
    """Number of recipes that a search compares."""
    counts = [
        len(alternatives(recipe, name, values, method=method, start=recipe))
        for name, values in choices.items()
    ]
    return 1 + sum(count - 1 for count in counts)


def _changes(name: str, value: Any, method: Method, start: Recipe) -> dict[str, Any] | None:
    """The fields that a candidate changes; None if the choice does not apply to the method."""
    if name in ("learning_rate", "dropout"):
        return {name: value}
    if name == "weight_decay":
        return {"weight_decay": value * start.weight_decay}
    if name == "augmentation":
        return dict(_AUGMENTATIONS[value])
    if method.smoothing:
        return {"smoothing": None if value == 1 else value * method.smoothing}
    if method.loss == "focal":
        return {"gamma": None if value == 1 else value * method.gamma}
    if method.head == "odd":
        return {"head_weight": value * start.head_weight}
    return None
