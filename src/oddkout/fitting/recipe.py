"""The training recipe, which is the same for all methods."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from statistics import harmonic_mean
from typing import Any

from oddkout.checks import Number, at_least
from oddkout.fitting.augmentation import Augmentation
from oddkout.fitting.budget import Budget, BudgetLayout
from oddkout.fitting.optimisation import HeadSchedule, Optimiser, OptimiserName, ScheduleName
from oddkout.models.encodings import EncodingName

# Number of examples per class that weight decay and the weight of the second head are tuned for.
_FEW = 10

# Examples in an update: at least and at most.
_SMALLEST, _LARGEST = 20, 128

# Sets per example of an update.
_SETS_PER_EXAMPLE = 12.8

# The number of examples forwarded in training: this many for up to 200 training examples, growing
# with a power of their number, and at least this many passes.
_FORWARDED, _SMALL, _POWER, _PASSES = 12_000, 200, 0.7, 8


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that training depends on, except data, method and seed.

    The defaults are for ten classes with ten examples each; ``suited_to`` adapts them to other
    numbers. ``docs/recipe.md`` explains them.

    Attributes:
        model: The network, see ``build_model``: a name, or a function that builds one.
        dropout: Dropout of the last features.
        updates: Largest number of updates, the same for every method; out-of-fold predictions may
            choose to stop earlier.
        examples: Number of examples in an update, the same for every method.
        sets: Number of sets in an update, for methods that draw sets.
        layout: How sets are drawn, see ``Budget``.
        learning_rate: Peak learning rate.
        schedule: Learning rate after the warm-up: ``"constant"``, with which training may stop at
            any time, or ``"cosine"`` decay to 0.
        optimiser: ``"sgd"``, ``"adam"`` or ``"adamw"``.
        momentum: Momentum of SGD.
        weight_decay: Weight decay.
        warm_up: Share of the updates in the warm-up of the learning rate.
        clip_norm: Largest norm of the gradient; None for no limit.
        clip_value: Largest absolute value of a gradient entry; None for no limit.
        head_weight: Initial weight of the second head's loss.
        head_until: Share of the updates after which that weight is 0; 0 keeps it constant.
        averaging: Share of the updates so far that a moving average of the weights covers; None
            for no averaging.
        smoothing: Label smoothing, for methods that smooth labels; by default that of the method.
        gamma: Exponent of the focal loss, for methods that use it; by default that of the method.
        shift: Images: largest random shift in pixels.
        flip: Images: whether to mirror at random.
        crop: Images: largest share of height and width to cut off at random.
        encoding: For rows of features, how the network sees their columns, see ``Encoding``; by
            default as they are.
        stop_every: Number of updates between possible stops. Training then ends soon after the
            out-of-fold NLL has passed its minimum; 0 for the five stops of ``members``.
        compiled: Whether to compile the model; by default if the run is long enough.
        mixed_precision: Whether to compute in bfloat16; by default on GPUs that support it.
    """

    model: str | Callable[..., Any] = "auto"
    dropout: Number = 0.3
    updates: int = 600
    examples: int = 20
    sets: int = 256
    layout: BudgetLayout = "pool"
    learning_rate: Number = 0.2
    schedule: ScheduleName = "constant"
    optimiser: OptimiserName = "sgd"
    momentum: Number = 0.9
    weight_decay: Number = 2e-3
    warm_up: Number = 0.05
    clip_norm: Number | None = 1.0
    clip_value: Number | None = None
    head_weight: Number = 2.0
    head_until: Number = 0.6
    averaging: Number | None = 0.2
    smoothing: Number | None = None
    gamma: Number | None = None
    shift: int = 0
    flip: bool = False
    crop: Number = 0.0
    encoding: EncodingName | None = None
    stop_every: int = 0
    compiled: bool | None = None
    mixed_precision: bool | None = None

    def __post_init__(self) -> None:
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate must be above 0, got {self.learning_rate}")
        at_least("stop_every", self.stop_every, 0)
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
                schedule=self.schedule,
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
    """The fields of the recipe that depend on the number of examples and classes.

    * An update has 20 to 128 examples: two for each class, and a fiftieth of all examples.
    * Training forwards 12,000 examples for up to 200 training examples. Beyond, the number grows
      with the power 0.7 of theirs, but training passes over all of them at least eight times.
    * Sets grow with the examples of an update.
    * Weight decay and the weight of the second head act like prior knowledge. They fall in
      proportion to the effective number of examples per class beyond ten, which is the harmonic
      mean of the class sizes: the variance of a class-balanced mean depends on it, so rare classes
      dominate. The second head also falls with the number of classes beyond ten.

    Args:
        class_sizes: Number of examples of each class; empty classes are ignored.

    Example:
        >>> suited_to([10] * 10)["updates"], suited_to([6000] * 10)["updates"]
        (600, 5081)
        >>> suited_to([1000, 5])["weight_decay"] == suited_to([5, 5])["weight_decay"]
        True
    """
    sizes = [size for size in class_sizes if size > 0]
    total = sum(sizes)
    examples = round(min(max(2 * len(sizes), total / 50, _SMALLEST), _LARGEST))
    forwarded = max(_FORWARDED * max(total / _SMALL, 1) ** _POWER, _PASSES * total)
    ratio = max(1.0, round(harmonic_mean(sizes) / _FEW, 2))
    return {
        "examples": examples,
        "updates": round(forwarded / examples),
        "sets": round(_SETS_PER_EXAMPLE * examples),
        "weight_decay": Recipe.weight_decay / ratio,
        "head_weight": Recipe.head_weight / ratio * min(1.0, _FEW / len(sizes)),
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
