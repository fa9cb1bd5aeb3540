"""The recipe of a run of the paper's grids: network, number of updates and augmentation."""

import math
from typing import Any

from oddkout.fitting.recipe import suited_to
from oddkout.paper.settings import Setting

# Examples forwarded in training, for this many training examples and fewer. Beyond, the number
# grows with a power of theirs.
_SMALL, _FORWARDED, _POWER = 200, 12_000, 0.6
_SMALL_CIFAR, _FORWARDED_CIFAR = 400, 30_000

# Without a GPU: examples in an update of a narrow ResNet.
_NARROW_EXAMPLES = {"cifar10": 60, "cifar100": 200}

_RESNETS = {"cifar10": "resnet18", "cifar100": "resnet34"}
_EPOCHS, _LEAST_UPDATES = 30, 2000


def budget(setting: Setting, *, is_narrow: bool = True) -> dict[str, Any]:
    """The fields of the recipe that depend on the setting, the same for every method.

    Computations are in bfloat16 and not compiled, so that the numbers do not depend on a compiler;
    full ResNets decide by their GPU.

    Args:
        setting: The data set and its size.
        is_narrow: Whether ResNets have a quarter of their width and few updates, for a CPU.

    Example:
        >>> budget(Setting("mnist", "uniform", 10))["updates"]
        600
        >>> [budget(Setting("mnist", "uniform", size))["updates"] for size in (500, 2000)]
        [828, 1486]
    """
    suited = suited_to(setting.class_sizes)
    total = setting.examples
    if setting.data not in _RESNETS:
        forwarded = _FORWARDED * max(total / _SMALL, 1) ** _POWER
        return suited | {
            "updates": round(forwarded / suited["examples"]),
            "mixed_precision": True,
            "compiled": False,
        }
    images: dict[str, Any] = {"model": _RESNETS[setting.data], "shift": 4, "flip": True}
    if not is_narrow:
        updates = max(_LEAST_UPDATES, math.ceil(_EPOCHS * total / suited["examples"]))
        return suited | images | {"updates": updates}
    examples = _NARROW_EXAMPLES[setting.data]
    forwarded = _FORWARDED_CIFAR * max(total / _SMALL_CIFAR, 1) ** _POWER
    return (
        suited_sets(suited, examples)
        | images
        | {
            "model": "resnet18-narrow",
            "updates": round(forwarded / examples),
            "mixed_precision": True,
            "compiled": False,
        }
    )


def suited_sets(suited: dict[str, Any], examples: int) -> dict[str, Any]:
    """The recipe with another number of examples in an update, and sets in proportion."""
    sets = round(suited["sets"] * examples / suited["examples"])
    return suited | {"examples": examples, "sets": sets}
