"""The training recipe, which is the same for all methods."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from statistics import harmonic_mean
from typing import Any

from oddkout.checks import Number
from oddkout.fitting.augmentation import Augmentation
from oddkout.fitting.objective import Budget
from oddkout.fitting.optimisation import HeadSchedule, Optimiser, OptimiserName
from oddkout.losses.odd_k_out import Layout

# Default candidates for the learning rate; every method chooses out of fold.
LEARNING_RATES: tuple[Number, ...] = (0.1, 0.2)

# Number of examples per class that the defaults were tuned for.
_FEW = 10


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that training depends on, except data, method and seed.

    The defaults are explained in ``docs/recipe.md``. They are tuned for ten examples per class;
    ``suited_to`` adapts them to more.

    Attributes:
        model: The network, see ``build_model``: a name, or a function that builds one.
        dropout: Dropout of the last features.
        updates: Number of updates, the same for every method.
        examples: Number of examples in an update, the same for every method.
        sets: Number of sets in an update, for methods that draw sets.
        layout: Whether sets are drawn from a ``"pool"`` or as in the ``"paper"``, see ``Budget``.
        learning_rate: Peak learning rate.
        optimiser: ``"sgd"`` or ``"adamw"``.
        momentum: Momentum of SGD.
        weight_decay: Weight decay.
        warm_up: Share of the updates in the warm-up of the learning rate.
        clip_norm: Largest norm of the gradient; None for no limit.
        clip_value: Largest absolute value of a gradient entry; None for no limit.
        head_weight: Initial weight of the second head's loss.
        head_until: Share of the updates after which that weight is 0; 0 keeps it constant.
        averaging: Decay of a moving average of the weights; None for no averaging.
        shift: Images: largest random shift in pixels.
        flip: Images: whether to mirror at random.
        crop: Images: largest share of height and width to cut off at random.
        compiled: Whether to compile the model; by default if the run is long enough.
        mixed_precision: Whether to compute in bfloat16; by default on GPUs that support it.
    """

    model: str | Callable[..., Any] = "auto"
    dropout: Number = 0.3
    updates: int = 600
    examples: int = 20
    sets: int = 256
    layout: Layout = "pool"
    learning_rate: Number = 0.2
    optimiser: OptimiserName = "sgd"
    momentum: Number = 0.9
    weight_decay: Number = 2e-3
    warm_up: Number = 0.05
    clip_norm: Number | None = 1.0
    clip_value: Number | None = None
    head_weight: Number = 2.0
    head_until: Number = 0.6
    averaging: Number | None = None
    shift: int = 0
    flip: bool = False
    crop: Number = 0.0
    compiled: bool | None = None
    mixed_precision: bool | None = None

    def __post_init__(self) -> None:
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate must be above 0, got {self.learning_rate}")
        _ = self.options  # raises for invalid values

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of ``train`` that the recipe determines."""
        return {
            "budget": Budget(
                updates=self.updates, examples=self.examples, sets=self.sets, layout=self.layout
            ),
            "optimiser": Optimiser(
                name=self.optimiser,
                learning_rate=self.learning_rate,
                momentum=self.momentum,
                weight_decay=self.weight_decay,
                warm_up=self.warm_up,
                clip_norm=self.clip_norm,
                clip_value=self.clip_value,
            ),
            "head": HeadSchedule(weight=self.head_weight, until=self.head_until),
            "augmentation": Augmentation(shift=self.shift, flip=self.flip, crop=self.crop),
            "averaging": self.averaging,
            "compiled": self.compiled,
            "mixed_precision": self.mixed_precision,
        }


def suited_to(class_sizes: Iterable[Number]) -> dict[str, Any]:
    """The fields of the recipe that depend on the number of examples.

    The effective number of examples per class is the harmonic mean of the class sizes: the variance
    of a class-balanced mean depends on it, so rare classes dominate. Up to ten, the defaults of
    ``Recipe`` apply. Beyond, weight decay and the weight of the second head, which act like prior
    knowledge, fall in proportion to it, and the number of updates rises to twice the default.

    Args:
        class_sizes: Number of examples of each class; empty classes are ignored.

    Example:
        >>> suited_to([20, 20])
        {'updates': 1200, 'weight_decay': 0.001, 'head_weight': 1.0}
        >>> suited_to([1000, 5]) == suited_to([5, 5])
        True
    """
    mean = harmonic_mean([size for size in class_sizes if size > 0])
    ratio = max(1.0, round(mean / _FEW, 2))
    return {
        "updates": round(Recipe.updates * min(2, ratio)),
        "weight_decay": Recipe.weight_decay / ratio,
        "head_weight": Recipe.head_weight / ratio,
    }


def changed_recipe(class_sizes: Iterable[Number], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that ``suited_to`` adapts to the data, updated with changes by the user.

    Args:
        class_sizes: Number of examples of each class.
        changes: Fields of ``Recipe`` by name; unknown names raise.

    Example:
        >>> changed_recipe([5, 5], {"updates": 30})["updates"]
        30
    """
    known = [part.name for part in fields(Recipe)]
    for name in changes:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"fields are {', '.join(known)}"
            raise ValueError(f"a recipe has no field {name!r}; {hint}")
    return suited_to(class_sizes) | dict(changes)
