"""Schemas of ``run.json`` and ``comparison.json``: what this version reads, and nothing else."""

from typing import Annotated, Any

import msgspec

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
    log: list[dict[str, _Scalar]] = []
    seconds: dict[str, float | None] = {}
    notes: list[str] = []
    versions: dict[str, str] = {}


class ChoiceRecord(msgspec.Struct, frozen=True):
    """The part of ``comparison.json`` on a choice."""

    candidates: list[_Scalar] = []


class ContestantRecord(msgspec.Struct, frozen=True):
    """The part of ``comparison.json`` on a contestant."""

    runs: Annotated[list[RunId], msgspec.Meta(min_length=1, max_length=_MOST_RUNS)]
    tuning: Annotated[list[RunId], msgspec.Meta(max_length=_MOST_RUNS)]


class ComparisonRecord(msgspec.Struct, frozen=True):
    """What is read from ``comparison.json``; everything else follows from the runs."""

    choices: dict[str, ChoiceRecord]
    contestants: Annotated[dict[str, ContestantRecord], msgspec.Meta(min_length=1)]
    warnings: list[str] = []
