"""The table of methods: how each draws its batches, and its loss."""

from dataclasses import dataclass, replace
from typing import Literal

from oddkout.checks import Number, at_least, one_of
from oddkout.losses.set_loss import Targets

LABEL_SMOOTHING = 0.1
FOCAL_GAMMA = 2.0
PAPER_TEMPERATURE = 2.0


@dataclass(frozen=True, kw_only=True)
class Method:
    """One way to train a classifier.

    Attributes:
        name: Name of the method in commands and tables.
        batches: How the examples of an update are drawn. ``"shuffled"``: each example once per
            epoch. ``"balanced"``: a random class, then one of its examples, with replacement.
            ``"pool"``: distinct examples of each class, from which sets are drawn.
        loss: The loss function.
        smoothing: Label smoothing of cross-entropy.
        gamma: Exponent of the focal loss.
        k: Number of odd classes in a set.
        targets: Targets of the set loss.
        head: A second head, used in training only. ``"odd"`` predicts the odd class; its control
            ``"noise"`` predicts random labels.
        temperature: Divisor of the logits after training: ``"none"``, a number, or ``"fit"`` for a
            temperature fitted out of fold.
    """

    name: str
    batches: Literal["shuffled", "balanced", "pool"]
    loss: Literal["cross-entropy", "weighted", "focal", "sets"]
    smoothing: Number = 0.0
    gamma: Number = FOCAL_GAMMA
    k: int = 0
    targets: Targets = "hard"
    head: Literal["none", "odd", "noise"] = "none"
    temperature: Number | Literal["none", "fit"] = "none"

    @property
    def is_balanced(self) -> bool:
        """Whether training treats all classes as equally frequent, whatever the data."""
        return self.batches != "shuffled" or self.loss == "weighted"


METHODS = {
    method.name: method
    for method in (
        Method(name="vanilla", batches="shuffled", loss="cross-entropy"),
        Method(
            name="vanilla+ls",
            batches="shuffled",
            loss="cross-entropy",
            smoothing=LABEL_SMOOTHING,
        ),
        Method(name="weighted", batches="shuffled", loss="weighted"),
        Method(name="focal", batches="shuffled", loss="focal"),
        Method(name="bb", batches="balanced", loss="cross-entropy"),
        Method(name="bb+ls", batches="balanced", loss="cross-entropy", smoothing=LABEL_SMOOTHING),
        Method(
            name="bb+ts", batches="balanced", loss="cross-entropy", temperature=PAPER_TEMPERATURE
        ),
        Method(name="bb+ts-fit", batches="balanced", loss="cross-entropy", temperature="fit"),
        Method(name="bb+noise", batches="balanced", loss="cross-entropy", head="noise"),
        Method(name="pair", batches="pool", loss="sets", k=0),
        Method(name="oko", batches="pool", loss="sets", k=1, head="odd"),
        Method(name="oko-soft", batches="pool", loss="sets", k=1, targets="soft"),
    )
}


def chosen_method(name: str, *, k: int | None = None, head: bool | None = None) -> Method:
    """A method of the table, with another k or another choice of head if requested.

    Args:
        name: Name of the method.
        k: Number of odd classes, for methods that draw sets; by default that of the method.
        head: Whether to train an odd-class head. By default, ``oko`` has one for k = 1 only.

    Example:
        >>> chosen_method("oko", k=3).k
        3
    """
    one_of("method", name, METHODS)
    method = METHODS[name]
    if method.loss != "sets":
        if k is not None or head is not None:
            given = f"k={k}" if k is not None else f"head={head}"
            raise ValueError(f"{name} draws no sets, got {given}; leave it out")
        return method
    if k is not None:
        # The odd-class head is designed for one odd class, so other k have none by default.
        method = replace(method, k=at_least("k", k, 0), head=method.head if k == 1 else "none")
    if head is not None:
        if head and method.k == 0:
            raise ValueError("an odd-class head needs an odd class, got k=0; leave the head out")
        method = replace(method, head="odd" if head else "none")
    return method
