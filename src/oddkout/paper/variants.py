"""Variants: what a row of a table is, a method as it stands or with parts of it changed.

Two rows may share a method, such as ``oko`` in the pool and in the paper's layout, or with
another k. Their names are here, and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from oddkout.checks import Number
from oddkout.comparing.config import RunConfig
from oddkout.fitting.methods import METHODS, chosen_method
from oddkout.paper.settings import Setting


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A row of a table.

    Attributes:
        name: What users type.
        title: What tables show.
        method: The method.
        k: Number of odd classes, if not the method's own.
        head: Whether there is an odd-class head, if not as the method says.
        recipe: What it changes of the recipe.
        rate_factor: The rates it chooses from, as a multiple of those of the others.
    """

    name: str
    title: str
    method: str
    k: int | None = None
    head: bool | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)
    rate_factor: Number = 1

    def config(self, base: RunConfig, setting: Setting) -> RunConfig:
        """A run of this variant, with as many examples forwarded as the given one forwards.

        Args:
            base: The run to change: its data, budget and recipe.
            setting: Its setting.
        """
        changed = replace(base, method=self.method, k=self.k, head=self.head, **self.recipe)
        if changed.layout == "pool":
            return changed
        seen = expected_distinct(setting, k=changed.how.k, sets=changed.sets)
        updates = max(1, round(base.updates * base.examples / seen))
        return replace(changed, examples=round(seen), updates=updates)


# The paper's own recipe: 64 sets of all training data in an update, gradients clipped by value,
# the odd-class loss at a constant weight of 1, weight decay, no dropout.
PAPER_RECIPE: dict[str, Any] = {
    "layout": "paper",
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
}

VARIANTS = {
    variant.name: variant
    for variant in (
        *(
            Variant(name=name, title=_METHOD_TITLES.get(name, name), method=name)
            for name in METHODS
        ),
        Variant(
            name="oko-paper",
            title="OKO, paper's recipe",
            method="oko",
            recipe=PAPER_RECIPE,
            rate_factor=0.25,  # gradients clipped by value kill the network at higher rates
        ),
        Variant(name="oko-k1", title="OKO, k = 1, no head", method="oko", k=1, head=False),
        Variant(name="oko-k2", title="OKO, k = 2, no head", method="oko", k=2),
        Variant(name="oko-k3", title="OKO, k = 3, no head", method="oko", k=3),
        Variant(name="oko-soft-k2", title="OKO, soft, k = 2", method="oko-soft", k=2),
        Variant(name="oko-soft-k3", title="OKO, soft, k = 3", method="oko-soft", k=3),
    )
}


def variant_of(config: RunConfig) -> str:
    """Name of the row that a run belongs to; one that is in no table is described.

    Args:
        config: The run.

    Example:
        >>> variant_of(RunConfig(data="digits", method="oko", k=2))
        'oko-k2'
    """
    key = _key(config.method, config.k, config.head, config.layout)
    for name, variant in VARIANTS.items():
        layout = variant.recipe.get("layout", "pool")
        if key == _key(variant.method, variant.k, variant.head, layout):
            return name
    how = config.how
    return f"{config.method} (k={how.k}, head={how.head}, {config.layout} layout)"


def expected_distinct(setting: Setting, *, k: int, sets: int) -> float:
    """Expected number of distinct examples among sets that are drawn as in Algorithm 1.

    An example of one of C classes, of m examples, is in a set with probability (k + 2) / (C m).

    Args:
        setting: What they are drawn from.
        k: Number of odd classes.
        sets: Number of sets.
    """
    return float(sum(m * (1 - _missed(k, setting.classes, m) ** sets) for m in setting.class_sizes))


def _missed(k: int, classes: int, size: Number) -> float:
    """Probability that a set does not hold a given example."""
    return 1 - (k + 2) / (classes * size)


def _key(method: str, k: int | None, head: bool | None, layout: str) -> tuple[Any, ...]:
    """What tells variants apart, however it was written."""
    how = chosen_method(method, k=k, head=head)
    is_set = how.loss == "sets"
    return (method, how.k, how.head, layout if is_set else "")
