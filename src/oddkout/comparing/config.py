"""The config of a run: data, method, recipe and seed."""

import json
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from hashlib import blake2b
from typing import Any

from oddkout.checks import Number, at_least
from oddkout.data import KNOWN
from oddkout.data.load import TrainingPart
from oddkout.fitting.folds import FOLDS
from oddkout.fitting.methods import METHODS, Method, chosen_method
from oddkout.fitting.pipeline import Population
from oddkout.fitting.recipe import Recipe

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class RunConfig(Recipe):
    """One run, complete: the same config and code give the same numbers.

    Attributes:
        data: A known name or a path, see ``load_data``.
        fingerprint: Hash of the content of the paths: changed data make another run, moved data do
            not; see ``identified``.
        target: Tables: the column that holds the class.
        test: A separate test file or folder.
        test_size: Without one, the share of every class that is kept for the test.
        image_size: Folders: height and width of every image.
        categorical: Tables: columns of numbers to take as categories.
        distribution: Classes of the training part: ``"all"`` of it, or a subset, ``"uniform"`` or
            ``"heavy-tailed"``.
        train_examples: Size of the subset.
        population: Class frequencies for which predictions are judged: ``"train"``, those of the
            training part, to which balanced methods are corrected; ``"uniform"``, as in the paper,
            which corrects nothing.
        method: Name of the method.
        k: Number of odd classes; the method's own if not given.
        head: Whether there is an odd-class head; the method's own if not given.
        folds: Number of folds for the temperature; 0 for none.
        seed: Key of all randomness: the split, the subset, the weights, the batches.
    """

    model: str = "auto"
    data: str
    fingerprint: str = ""
    target: str | None = None
    test: str | None = None
    test_size: Number = 0.2
    image_size: int | None = None
    categorical: tuple[str, ...] = ()
    distribution: TrainingPart = "all"
    train_examples: int | None = None
    population: Population = "train"
    method: str = "oko"
    k: int | None = None
    head: bool | None = None
    folds: int = FOLDS
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        assert self.spec, "which raises for an unknown method, or k where there are no sets"
        if self.folds != 0:
            at_least("folds, unless it is 0 for none,", self.folds, 2)

    @property
    def id(self) -> str:
        """A hash of the whole config, the name of the run on disk.

        Data with a fingerprint count by their content, not by their path.
        """
        values = {name: _written(value) for name, value in asdict(self).items()}
        if self.fingerprint:
            del values["data"], values["test"]
        text = json.dumps(values | {"format": FORMAT}, sort_keys=True)
        return blake2b(text.encode(), digest_size=10).hexdigest()

    @property
    def spec(self) -> Method:
        """The method, as this run changes it."""
        return chosen_method(self.method, k=self.k, head=self.head)

    @property
    def recipe(self) -> Recipe:
        """How it is trained, apart from data, method and seed."""
        return Recipe(**{part.name: getattr(self, part.name) for part in fields(Recipe)})

    @property
    def reading(self) -> dict[str, Any]:
        """The arguments of ``load_everything`` beside the source."""
        is_fixed = self.data in KNOWN or self.test is not None
        return {
            "target": self.target,
            "test": self.test,
            "test_size": self.test_size,
            "image_size": self.image_size,
            "categorical": self.categorical,
            "seed": 0 if is_fixed else self.seed,
        }

    @property
    def training(self) -> "RunConfig":
        """The config without what follows training: runs that agree in it share one training."""
        return replace(self, method=_trains_like(self.method))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "RunConfig":
        """Read a config; unknown fields are refused.

        Args:
            values: The result of ``asdict``, as JSON keeps it.
        """
        if unknown := sorted(values.keys() - {part.name for part in fields(cls)}):
            raise ValueError(f"a run has no {unknown}; it was written by another version")
        return cls(**values | {"categorical": tuple(values.get("categorical", ()))})


def open_setting(config: RunConfig) -> RunConfig:
    """The config without what a comparison varies: method, learning rate and seed."""
    return replace(
        config,
        method=RunConfig.method,
        learning_rate=RunConfig.learning_rate,
        seed=RunConfig.seed,
    )


def _written(value: Any) -> Any:
    """A value as an id spells it: 1.0 as 1, which is equal to it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@cache
def _trains_like(name: str) -> str:
    """The first method of the table that is the same until the end of training."""
    own = _without_temperature(METHODS[name])
    return next(other for other, row in METHODS.items() if _without_temperature(row) == own)


def _without_temperature(method: Method) -> Method:
    """What a method does until the end of training."""
    return replace(method, name="", temperature="none")
