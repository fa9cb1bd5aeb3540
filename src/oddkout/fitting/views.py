"""Views of a stack: encoding x network x method, each with its recipe."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oddkout.fitting.methods import METHODS, Method, parts_of
from oddkout.fitting.recipe import Recipe
from oddkout.models.forest import FOREST

# Possible stops are this many updates apart.
STOP_EVERY = 20

# Examples of an update, by the number of updates in a pass over all examples.
_UPDATES_PER_PASS, _FEWEST, _MOST = 32, 32, 256

# Largest number of updates for up to so many examples, growing slowly beyond.
_UPDATES, _USUAL = 2000, 2000

# Pseudo-examples that pull the weights of the views of a table towards equal ones.
TABLE_PSEUDO_EXAMPLES = 5.0


@dataclass(frozen=True, kw_only=True)
class ViewPlan:
    """One view of a stack, before it is fitted.

    Attributes:
        name: Name of the view.
        method: The method to train with.
        recipe: The recipe to start from.
        choices: What out-of-fold NLL chooses, with the candidates.
    """

    name: str
    method: Method
    recipe: Recipe
    choices: Mapping[str, Sequence[Any]]


# The views of the method ``tables``: what differs from the recipe of all of them. The rate is a
# multiple of theirs.
TABLE_VIEWS: Mapping[str, Mapping[str, Any]] = {
    "codes": {"encoding": "piecewise", "method": "vanilla"},
    "sets": {"encoding": "standard", "method": "oko+la", "layout": "pairs"},
    "scores": {"encoding": "normal", "method": "vanilla"},
    "linear": {"encoding": "standard", "method": "vanilla", "model": "linear", "rate": 4.0},
    "trees": {"encoding": "standard", "method": "vanilla", "model": FOREST, "updates": 1},
}


def table_recipe(sizes: Sequence[int], **changes: Any) -> Recipe:
    """The recipe of all views of the method ``tables``.

    Args:
        sizes: Number of training examples of each class.
        **changes: Fields of ``Recipe`` to change.

    Example:
        >>> [(recipe.examples, recipe.updates) for recipe in map(table_recipe, ([500], [200_000]))]
        [(32, 2000), (256, 6325)]
    """
    total = sum(sizes)
    examples = round(min(max(total / _UPDATES_PER_PASS, _FEWEST), _MOST))
    fields: dict[str, Any] = {
        "model": "mlp-small",
        "dropout": 0.0,
        "updates": round(_UPDATES * max(1.0, total / _USUAL) ** 0.25),
        "examples": examples,
        "sets": 2 * examples,
        "learning_rate": 3e-3,
        "optimiser": "adam",
        "weight_decay": 0.0,
        "warm_up": 0.01,
        "clip_norm": None,
        "averaging": 0.2,
        "stop_every": STOP_EVERY,
    }
    return Recipe(**fields | changes)


def views_of(
    method: Method,
    sizes: Sequence[int],
    *,
    recipe: Recipe,
    choices: Mapping[str, Sequence[Any]],
) -> tuple[ViewPlan, ...]:
    """The views of a method: those of a stack, or the method itself.

    Args:
        sizes: Number of training examples of each class.
        recipe: The recipe to start from. The method ``tables`` has its own, unless this is one.
        choices: What out-of-fold NLL chooses; the method ``tables`` chooses when to stop alone.
    """
    if method.is_for_tables:
        base = recipe if recipe.stop_every else table_recipe(sizes)
        return tuple(_table_view(name, base, k=method.k) for name in TABLE_VIEWS)
    return tuple(
        ViewPlan(name=part.name, method=part, recipe=recipe, choices=choices)
        for part in parts_of(method, sizes)
    )


def _table_view(name: str, base: Recipe, *, k: int) -> ViewPlan:
    """One view of the method ``tables``."""
    fields = dict(TABLE_VIEWS[name])
    method = METHODS[fields.pop("method")]
    if method.loss == "sets":
        method = replace(method, k=k)
        fields["layout"] = "pairs" if k == 1 else "pool"
    rate = base.learning_rate * fields.pop("rate", 1.0)
    return ViewPlan(
        name=name, method=method, recipe=replace(base, learning_rate=rate, **fields), choices={}
    )
