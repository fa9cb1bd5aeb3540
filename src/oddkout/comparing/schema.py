"""Schemas of ``run.json`` and ``comparison.json``: what this version reads, and nothing else."""

from typing import Annotated, Any

import msgspec

from oddkout.decisions.trial import RISKS

# The metrics that are compared: every run that succeeded holds them.
COMPARED = ("accuracy", "nll", "ece", "brier", "entropy_gap")

_MOST_CLASSES, _MOST_RUNS = 100_000, 100_000

RunId = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{20}$")]
_Count = Annotated[int, msgspec.Meta(ge=0)]
_Share = Annotated[float, msgspec.Meta(ge=0)]
_Scalar = str | float | bool | None


class NullRecord(msgspec.Struct, frozen=True):
    """The null level of a calibration error."""

    mean: float
    high: float
    p_value: float | None = None


class MeasuredRecord(msgspec.Struct, frozen=True):
    """A metric with its interval; None if it has no value."""

    value: float | None
    low: float | None = None
    high: float | None = None
    null: NullRecord | None = None


class SetsRecord(msgspec.Struct, frozen=True):
    """What prediction sets promise."""

    coverage: float
    guarantee: str
    always: list[str]
    notes: list[str]


class AnswersRecord(msgspec.Struct, frozen=True):
    """What answers at a risk promise."""

    risk: float
    guarantee: str
    notes: list[str]


class PromisesRecord(msgspec.Struct, frozen=True):
    """What decisions promise; empty for runs that have none."""

    sets: SetsRecord | None = None
    answers: list[AnswersRecord] = []

    def __post_init__(self) -> None:
        if len(self.answers) != (0 if self.sets is None else len(RISKS)):
            raise ValueError(f"promises must be of sets and of {len(RISKS)} risks, or empty")


class RunRecord(msgspec.Struct, frozen=True):
    """The content of ``run.json``; ``RunConfig.from_dict`` checks the config."""

    id: RunId
    format: int
    config: dict[str, Any]
    classes: Annotated[list[str], msgspec.Meta(max_length=_MOST_CLASSES)]
    reason: str = ""
    train_counts: list[_Count] = []
    prior: list[_Share] = []
    temperature: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    strength: float = 0.0
    updates: _Count = 0
    members: _Count = 1
    weights: dict[str, float] = {}
    out_of_fold: dict[str, float | None] = {}
    as_trained: dict[str, MeasuredRecord] = {}
    tempered: dict[str, MeasuredRecord] = {}
    promises: PromisesRecord = PromisesRecord()
    extras: dict[str, dict[str, float | list[float]]] = {}
    protocol: str = ""
    log: list[dict[str, _Scalar]] = []
    seconds: dict[str, _Share] = {}
    notes: list[str] = []
    versions: dict[str, str] = {}

    def __post_init__(self) -> None:
        for part in (self.as_trained, self.tempered):
            if part and not part.keys() >= set(COMPARED):
                raise ValueError(f"a tested run must hold {', '.join(COMPARED)}")


class ChoiceRecord(msgspec.Struct, frozen=True):
    """The part of ``comparison.json`` on a choice."""

    candidates: list[_Scalar] = []


class ContestantRecord(msgspec.Struct, frozen=True):
    """The part of ``comparison.json`` on a contestant."""

    runs: Annotated[list[RunId], msgspec.Meta(min_length=1, max_length=_MOST_RUNS)]
    tuning: Annotated[list[RunId], msgspec.Meta(max_length=_MOST_RUNS)]


class CostsRecord(msgspec.Struct, frozen=True):
    """The part of ``comparison.json`` on costs; ``CostTable`` checks the numbers."""

    answers: Annotated[list[str], msgspec.Meta(min_length=1, max_length=_MOST_CLASSES)]
    matrix: Annotated[list[list[float]], msgspec.Meta(min_length=1, max_length=_MOST_CLASSES)]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.answers) for row in self.matrix):
            raise ValueError("each row of costs must hold a number for each answer")


class ComparisonRecord(msgspec.Struct, frozen=True):
    """What is read from ``comparison.json``; everything else follows from the runs."""

    choices: dict[str, ChoiceRecord]
    contestants: Annotated[dict[str, ContestantRecord], msgspec.Meta(min_length=1)]
    warnings: list[str] = []
    criterion: str = "nll"
    costs: CostsRecord | None = None
