"""The config of a run: data, method, recipe and seed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from hashlib import blake2b
from typing import Any

from oddkout.checks import Number, at_least
from oddkout.comparing.contestants import OUTSIDERS, is_outsider
from oddkout.data import KNOWN
from oddkout.data.categories import RARE_BELOW
from oddkout.data.load import TrainingPart
from oddkout.fitting.folds import FOLDS, Calibration
from oddkout.fitting.methods import METHODS, Method, chosen_method
from oddkout.fitting.pipeline import MembersOption
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.selection import FIELDS
from oddkout.prior import Population
from oddkout.records import matched

FORMAT = 1

# Counts the changes in how tables are encoded: runs with another encoding are other runs.
_ENCODING = 2

# Fields that older runs lack.
_LATER = ("contestant", "group", "text", "numeric", "rare_below", "encoding", "stop_every",
          "is_raw")  # fmt: skip

# What runs of version 0.1.0 did, which did not record it.
_BEFORE_MEMBERS: dict[str, Any] = {
    "schedule": "cosine",
    "averaging": None,
    "members": "single",
    "calibrate": "temperature",
}


@dataclass(frozen=True, kw_only=True)
class RunConfig(Recipe):
    """Everything that determines a run: the same config and code give the same numbers.

    Attributes:
        data: A known name or a path, see ``load_data``.
        fingerprint: Hash of the data files. Changed data make a different run, moved data the same;
            see ``identified``.
        target: Tables: the column that holds the class.
        test: A separate test file or folder.
        test_size: Share of each class for the test part, without a separate one.
        image_size: Folders: height and width to scale each image to.
        categorical: Tables: columns to treat as categories.
        text: Tables: columns to treat as text.
        numeric: Tables: columns to treat as numbers although they look like identifiers.
        rare_below: Tables: least number of training rows of a category.
        group: Tables: the column that holds the group of each row.
        distribution: ``"all"`` training examples, or a ``"uniform"``, ``"heavy-tailed"`` or
            ``"exponential"`` subset.
        train_examples: Size of the subset.
        population: Class frequencies to judge for. ``"train"``: those of the training part.
            ``"uniform"``: equal ones as in the paper, which corrects no method as trained.
            Numbers: what the user requested. All contestants are corrected to ``"train"`` and to
            numbers.
        method: Name of the method, or of another contestant.
        contestant: For a user's classifier, the text that identifies it.
        is_raw: Whether it gets the columns of a table before they are encoded.
        estimator: The user's classifier; neither stored nor compared.
        time_limit: Limit in seconds for contestants that are not ours; neither stored nor
            compared.
        k: Number of odd classes; by default that of the method.
        head: Whether to train an odd-class head; by default as the method prescribes.
        folds: Number of cross-validation folds; 1 holds out a tenth, 0 is for none.
        members: Whether the networks of the folds predict together, or a single one.
        calibrate: What is fitted to out-of-fold logits.
        seed: Seed of all randomness: split, subset, weights and batches.
    """

    model: str = "auto"
    data: str
    fingerprint: str = ""
    target: str | None = None
    test: str | None = None
    test_size: Number = 0.2
    image_size: int | None = None
    categorical: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    rare_below: int = RARE_BELOW
    group: str | None = None
    distribution: TrainingPart = "all"
    train_examples: int | None = None
    population: Population = "train"
    method: str = "oko"
    contestant: str = ""
    is_raw: bool = False
    estimator: Any = field(default=None, compare=False, repr=False)
    time_limit: Number | None = field(default=None, compare=False, repr=False)
    k: int | None = None
    head: bool | None = None
    folds: int = FOLDS
    members: MembersOption = "folds"
    calibrate: Calibration = "folds"
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.spec  # raises for an unknown method, or a k without sets
        at_least("folds", self.folds, 0)

    @property
    def id(self) -> str:
        """Hash of the config and name of the run on disk.

        Data with a fingerprint are identified by their content, not by their path.
        """
        values = {name: _written(value) for name, value in self.to_dict().items()}
        for name in _LATER:
            if values[name] == getattr(RunConfig, name):
                del values[name]
        if self.target is not None:
            values["table_encoding"] = _ENCODING
        if self.fingerprint:
            del values["data"], values["test"]
        text = json.dumps(values | {"format": FORMAT}, sort_keys=True)
        return blake2b(text.encode(), digest_size=10).hexdigest()

    @property
    def spec(self) -> Method:
        """The method with the ``k`` and ``head`` of this run.

        A contestant that is not ours is described as a method that does nothing for balance.
        """
        if self.is_outsider and (self.contestant or self.method in OUTSIDERS or ":" in self.method):
            return Method(name=self.method)
        return chosen_method(self.method, k=self.k, head=self.head)

    @property
    def is_outsider(self) -> bool:
        """Whether the contestant is not one of our methods."""
        return is_outsider(self.method)

    @property
    def recipe(self) -> Recipe:
        """The recipe alone, without data, method and seed."""
        return Recipe(**{part.name: getattr(self, part.name) for part in fields(Recipe)})

    @property
    def reading(self) -> dict[str, Any]:
        """The arguments of ``load_everything``, except the source."""
        is_fixed = self.data in KNOWN or self.test is not None
        return {
            "target": self.target,
            "test": self.test,
            "test_size": self.test_size,
            "image_size": self.image_size,
            "categorical": self.categorical,
            "text": self.text,
            "numeric": self.numeric,
            "rare_below": self.rare_below,
            "group": self.group,
            "seed": 0 if is_fixed else self.seed,
        }

    @property
    def training(self) -> "RunConfig":
        """The config of the training alone: runs that share it are trained once."""
        return self if self.is_outsider else replace(self, method=_trains_like(self.method))

    def to_dict(self) -> dict[str, Any]:
        """All fields that determine the run, as plain values."""
        return {part.name: getattr(self, part.name) for part in fields(self) if part.compare}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "RunConfig":
        """Read the result of ``to_dict``; unknown fields and values of wrong types raise."""
        if unknown := sorted(values.keys() - {part.name for part in fields(cls) if part.compare}):
            raise ValueError(f"unknown fields {unknown}; the run was written by another version")
        return matched((_BEFORE_MEMBERS if "members" not in values else {}) | values, cls)


# The fields of the recipe that a comparison may choose for each method.
CHOSEN = tuple(name for names in FIELDS.values() for name in names)


def open_setting(config: RunConfig, *, chosen: Sequence[str] = ("learning_rate",)) -> RunConfig:
    """The config with default method, seed and choices, which a comparison varies.

    Args:
        chosen: Fields of the recipe that were chosen for each method.
    """
    defaults = {name: getattr(RunConfig, name) for name in chosen}
    return replace(
        config,
        method=RunConfig.method,
        contestant="",
        is_raw=False,
        seed=RunConfig.seed,
        **defaults,
    )


def _written(value: Any) -> Any:
    """A value as it enters the id: 1.0 as 1, because they are equal."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@cache
def _trains_like(name: str) -> str:
    """The first method of the table that trains identically."""
    training = _without_temperature(METHODS[name])
    return next(other for other, row in METHODS.items() if _without_temperature(row) == training)


def _without_temperature(method: Method) -> Method:
    """The method without what does not affect training."""
    return replace(method, name="", temperature="none", summary="", source="")
