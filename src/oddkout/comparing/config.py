"""What a run is made of: a setting, a method, a recipe and a seed."""

import json
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from hashlib import blake2b
from typing import Any, Literal

from oddkout.checks import Number, at_least
from oddkout.fitting.methods import METHODS, Method, chosen_method
from oddkout.fitting.recipe import FOLDS, Recipe

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class RunConfig(Recipe):
    """One run, complete: the same config and code give the same numbers.

    Attributes:
        data: A known name or a path, see ``load_data``.
        fingerprint: Hash of what the paths hold, so that changed data are another run and moved
            ones are not; see ``identified``.
        target: Tables: the column that holds the class.
        test: A separate test file or folder.
        test_size: Without one, the share of every class that is kept for the test.
        image_size: Folders: height and width of every image.
        categorical: Tables: columns of numbers to take as categories.
        distribution: Classes of the training part: ``"all"`` of it, or a subset, ``"uniform"`` or
            ``"heavy-tailed"``.
        train_examples: Size of the subset.
        population: Class frequencies where predictions are judged: ``"train"``, those of the
            training part, to which methods that balance are corrected; ``"uniform"``, as in the
            paper, for which nothing is corrected.
        method: Name of the method.
        k: Number of odd classes; the method's own if not given.
        head: Whether there is an odd-class head; the method's own if not given.
        folds: Number of folds for the temperature; 0 for none.
        seed: Key of all randomness: the split, the subset, the weights, the batches.
    """

    data: str
    fingerprint: str = ""
    target: str | None = None
    test: str | None = None
    test_size: Number = 0.2
    image_size: int | None = None
    categorical: tuple[str, ...] = ()
    distribution: Literal["all", "uniform", "heavy-tailed"] = "all"
    train_examples: int | None = None
    population: Literal["train", "uniform"] = "train"
    method: str = "oko"
    k: int | None = None
    head: bool | None = None
    folds: int = FOLDS
    seed: int = 0

    def __post_init__(self) -> None:
        assert self.how, "which raises for an unknown method, or k where there are no sets"
        at_least("updates", self.updates, 1)
        at_least("examples", self.examples, 1)
        if self.folds != 0:
            at_least("folds, unless it is 0 for none,", self.folds, 2)
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate must be above 0, got {self.learning_rate}")

    @property
    def id(self) -> str:
        """A hash of the whole config, the name of the run on disk.

        Of data with a fingerprint it is their content that counts, not where they lie.
        """
        values = {name: _written(value) for name, value in asdict(self).items()}
        if self.fingerprint:
            del values["data"], values["test"]
        text = json.dumps(values | {"format": FORMAT}, sort_keys=True)
        return blake2b(text.encode(), digest_size=10).hexdigest()

    @property
    def how(self) -> Method:
        """The method, as this run changes it."""
        return chosen_method(self.method, k=self.k, head=self.head)

    @property
    def recipe(self) -> Recipe:
        """How it is trained, data, method and seed apart."""
        return Recipe(**{part.name: getattr(self, part.name) for part in fields(Recipe)})

    @property
    def training(self) -> "RunConfig":
        """The config without what comes after training: runs that agree in it train once."""
        return replace(self, method=_trains_like(self.method))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "RunConfig":
        """Read a config, refusing what it does not know.

        Args:
            values: What ``asdict`` gave, as JSON keeps it.
        """
        if unknown := sorted(values.keys() - {part.name for part in fields(cls)}):
            raise ValueError(f"a run has no {unknown}; it was written by another version")
        return cls(**values | {"categorical": tuple(values.get("categorical", ()))})


def _written(value: Any) -> Any:
    """A value as an id spells it: 1.0 as 1, which is equal to it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@cache
def _trains_like(name: str) -> str:
    """The first method of the table that is the same until the end of training."""
    own = _without_temperature(METHODS[name])
    return next(other for other, how in METHODS.items() if _without_temperature(how) == own)


def _without_temperature(method: Method) -> Method:
    """What a method does until the end of training."""
    return replace(method, name="", temperature="none")
