"""Variants: the rows of the tables, each a method with some of its options changed.

Several rows may share a method, such as ``oko`` in the pool and in the paper's layout, or with
different k.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from oddkout.checks import Number
from oddkout.comparing.config import RunConfig
from oddkout.fitting.methods import PAPER_METHODS, chosen_method
from oddkout.paper.settings import Setting


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A row of a table.

    Attributes:
        name: The name that users type.
        title: The title in tables.
        method: Name of the method.
        k: Number of odd classes; by default the method's.
        head: Whether there is an odd-class head; by default as in the method.
        recipe: Changes to the recipe.
    """

    name: str
    title: str
    method: str
    k: int | None = None
    head: bool | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)

    def config(self, base: RunConfig, setting: Setting) -> RunConfig:
        """A run of this variant that forwards as many examples as the base run.

        Args:
            base: A run with the data, budget and recipe.
            setting: Its setting.
        """
        changed = replace(base, method=self.method, k=self.k, head=self.head, **self.recipe)
        if changed.layout == "pool":
            return changed
        seen = expected_distinct(setting, k=changed.spec.k, sets=changed.sets)
        updates = max(1, round(base.updates * base.examples / seen))
        return replace(changed, examples=round(seen), updates=updates)


# The paper's own recipe: 64 sets per update, drawn from all training data; gradients clipped by
# value; a constant weight of 1 for the odd-class loss; weight decay; no dropout.
PAPER_RECIPE: dict[str, Any] = {
    "layout": "paper",
    "learning_rate": 0.05,  # with gradients clipped by value, runs at higher rates end at chance
    "sets": 64,
    "clip_norm": None,
    "clip_value": 1.0,
    "head_weight": 1.0,
    "head_until": 0.0,
    "weight_decay": 1e-3,
    "dropout": 0.0,
}

_METHOD_TITLES = {
    "vanilla": "Vanilla",
    "vanilla+ls": "Vanilla + LS",
    "weighted": "Weighted CE",
    "focal": "Focal loss",
    "bb": "BB",
    "bb+ls": "BB + LS",
    "bb+ts": "BB + TS, 2.0",
    "bb+ts-fit": "BB + TS, fitted",
    "bb+noise": "BB + noise head",
    "pair": "Pair, k = 0",
    "oko": "OKO",
    "oko-soft": "OKO, soft",
    "vanilla+ls+la": "Vanilla + LS + LA",
    "oko+la": "OKO + LA",
}

# Methods with prior adjustment, which the paper does not have.
ADJUSTED_METHODS = ("vanilla+ls+la", "oko+la")

VARIANTS = {
    variant.name: variant
    for variant in (
        *(
            Variant(name=name, title=_METHOD_TITLES.get(name, name), method=name)
            for name in (*PAPER_METHODS, *ADJUSTED_METHODS)
        ),
        Variant(
            name="oko-paper",
            title="OKO, paper's recipe",
            method="oko",
            recipe=PAPER_RECIPE,
        ),
        Variant(name="oko-k1", title="OKO, k = 1, no head", method="oko", k=1, head=False),
        Variant(name="oko-k2", title="OKO, k = 2, no head", method="oko", k=2),
        Variant(name="oko-k3", title="OKO, k = 3, no head", method="oko", k=3),
        Variant(name="oko-soft-k2", title="OKO, soft, k = 2", method="oko-soft", k=2),
        Variant(name="oko-soft-k3", title="OKO, soft, k = 3", method="oko-soft", k=3),
    )
}


def variant_of(config: RunConfig) -> str:
    """Name of the variant of a run; a description if it is no variant of the table.

    Example:
        >>> variant_of(RunConfig(data="digits", method="oko", k=2))
        'oko-k2'
    """
    key = _key(config.method, config.k, config.head, config.layout)
    for name, variant in VARIANTS.items():
        layout = variant.recipe.get("layout", "pool")
        if key == _key(variant.method, variant.k, variant.head, layout):
            return name
    method = config.spec
    return f"{config.method} (k={method.k}, head={method.head}, {config.layout} layout)"


def expected_distinct(setting: Setting, *, k: int, sets: int) -> float:
    """Expected number of distinct examples in ``sets`` sets drawn by Algorithm 1.

    With C classes, an example of a class of size m is in a set with probability (k + 2) / (C m).
    """
    return float(sum(m * (1 - _missed(k, setting.classes, m) ** sets) for m in setting.class_sizes))


def _missed(k: int, classes: int, size: Number) -> float:
    """Probability that a set does not contain a given example."""
    return 1 - (k + 2) / (classes * size)


def _key(method: str, k: int | None, head: bool | None, layout: str) -> tuple[Any, ...]:
    """The options that distinguish variants, with defaults filled in."""
    chosen = chosen_method(method, k=k, head=head)
    is_set = chosen.loss == "sets"
    return (method, chosen.k, chosen.head, layout if is_set else "")
