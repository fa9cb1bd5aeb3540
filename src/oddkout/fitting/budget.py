"""The amount of training, the same for every method."""

from dataclasses import dataclass
from typing import Literal, get_args

from oddkout.checks import at_least, one_of

# How sets are drawn, see ``Budget``.
BudgetLayout = Literal["pool", "paper", "pairs"]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """The amount of training, the same for every method.

    Attributes:
        updates: Number of updates.
        examples: Number of examples in an update, exactly the same for every method; all of them
            if there are fewer.
        sets: Number of sets in an update, for methods that draw sets.
        layout: ``"pool"`` draws sets from a balanced pool, ``"paper"`` from all training data. In
            both, the model sees each distinct member once. ``"pairs"``, for methods that draw pairs
            and k = 1, gives each pair the same number of odd examples.
    """

    updates: int
    examples: int
    sets: int
    layout: BudgetLayout = "pool"

    def __post_init__(self) -> None:
        at_least("updates", self.updates, 1)
        at_least("examples", self.examples, 1)
        at_least("sets", self.sets, 1)
        one_of("layout", self.layout, get_args(BudgetLayout))
