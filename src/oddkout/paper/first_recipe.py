"""The recipe of version 0.1.0, with which the committed runs were made."""

from collections.abc import Iterable
from statistics import harmonic_mean
from typing import Any

from oddkout.checks import Number

# One network with a decaying learning rate; its temperature is fitted out of fold.
FIRST_RECIPE: dict[str, Any] = {
    "dropout": 0.3,
    "examples": 20,
    "sets": 256,
    "schedule": "cosine",
    "averaging": None,
    "head_until": 0.6,
}
FIRST_FIT: dict[str, Any] = {"members": "single", "calibrate": "temperature"}

_UPDATES, _WEIGHT_DECAY, _HEAD_WEIGHT, _FEW = 600, 2e-3, 2.0, 10


def first_recipe(class_sizes: Iterable[Number]) -> dict[str, Any]:
    """The fields of the recipe that version 0.1.0 used for these class sizes.

    Example:
        >>> first_recipe([20, 20])["updates"], first_recipe([5, 5])["weight_decay"]
        (1200, 0.002)
    """
    mean = harmonic_mean([size for size in class_sizes if size > 0])
    ratio = max(1.0, round(mean / _FEW, 2))
    return FIRST_RECIPE | {
        "updates": round(_UPDATES * min(2, ratio)),
        "weight_decay": _WEIGHT_DECAY / ratio,
        "head_weight": _HEAD_WEIGHT / ratio,
    }
