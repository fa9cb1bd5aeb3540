"""The outcome of a run: metrics and predictions, or the reason of its failure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped
from numpy import ndarray

from oddkout.comparing.config import FORMAT, RunConfig
from oddkout.comparing.schema import RunRecord
from oddkout.decisions.cost_table import CostTable
from oddkout.decisions.trial import RISKS
from oddkout.records import matched
from oddkout.version import versions

# Key of ``fold_metrics`` in ``run.json`` and in committed results.
_FOLDS_KEY = "out_of_fold"

# Fields stored as arrays in ``predictions.npz``, not in ``run.json``.
ARRAYS = (
    *("logits", "calibrated_logits", "labels", "test_rows", "sets", "answered"),
    *("fold_logits", "fold_calibrated", "fold_labels"),
)

_LOGITS = ("logits", "calibrated_logits", "fold_logits", "fold_calibrated")

# Fields that ``run.json`` does not hold.
_UNSTORED = (*ARRAYS, "costs")


@dataclass(kw_only=True)
class Run:
    """The outcome of a run: metrics and predictions, or the reason of its failure.

    Attributes:
        config: The config of the run.
        reason: Why the run failed; empty if it succeeded.
        classes: Names of the classes.
        train_counts: Number of training examples of each class.
        prior: Class frequencies that the probabilities are for.
        temperature: The out-of-fold temperature.
        strength: The out-of-fold strength of prior adjustment.
        updates: Number of updates of each network; 0 if unknown.
        members: Number of networks that predict together.
        weights: Share of each method in the prediction; a stack has several.
        fold_metrics: NLL and accuracy of the out-of-fold predictions, each fold with a temperature
            fitted on the other folds; classes are weighted as in the population.
        as_trained: Metrics on the test part, each with interval and null level.
        tempered: The same metrics with the out-of-fold calibration.
        promises: What decisions promise, in words; see ``Trial``.
        log: The learning curve.
        seconds: Duration of training, folds and evaluation; and the CPU time of the job, which all
            runs trained together share.
        notes: What a reader should know, one sentence each.
        extras: Further numbers that a caller keeps with the run, in groups, by name.
        protocol: Hash of the protocol that the run follows; empty without one.
        versions: Versions of the software used.
        logits: Logits of the test part, as trained.
        calibrated_logits: Logits of the test part, with the out-of-fold calibration.
        labels: Classes of the test part.
        test_rows: Row of each test example in the data, if they were split by the seed, or its
            group: test examples with the same number depend on each other.
        sets: Whether each class is in the prediction set of each test example; see ``Trial``.
        answered: Whether each test example is answered, at each risk of ``Trial``.
        fold_logits: Out-of-fold logits of the networks for the training part.
        fold_calibrated: The same, each fold with a calibration fitted to the other folds.
        fold_labels: Classes of these training examples.
        costs: What answers cost, if the comparison has costs; not stored.
    """

    config: RunConfig
    reason: str = ""
    classes: tuple[str, ...] = ()
    train_counts: list[int] = field(default_factory=list)
    prior: list[float] = field(default_factory=list)
    temperature: float = 1.0
    strength: float = 0.0
    updates: int = 0
    members: int = 1
    weights: dict[str, float] = field(default_factory=dict)
    fold_metrics: dict[str, float] = field(default_factory=dict)
    as_trained: dict[str, Any] = field(default_factory=dict)
    tempered: dict[str, Any] = field(default_factory=dict)
    promises: dict[str, Any] = field(default_factory=dict)
    log: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    extras: dict[str, dict[str, Any]] = field(default_factory=dict)
    protocol: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    logits: Float[ndarray, "examples classes"] | None = None
    calibrated_logits: Float[ndarray, "examples classes"] | None = None
    labels: Int[ndarray, " examples"] | None = None
    test_rows: Int[ndarray, " examples"] | None = None
    sets: Bool[ndarray, "examples classes"] | None = None
    answered: Bool[ndarray, "examples risks"] | None = None
    fold_logits: Float[ndarray, "train classes"] | None = None
    fold_calibrated: Float[ndarray, "train classes"] | None = None
    fold_labels: Int[ndarray, " train"] | None = None
    costs: CostTable | None = None

    @property
    def has_failed(self) -> bool:
        """Whether the run failed."""
        return bool(self.reason)

    def value(self, metric: str, *, is_tempered: bool = False) -> float:
        """A metric on the test part; NaN if it has no value.

        Args:
            metric: Name of the metric, see ``evaluate``.
            is_tempered: Whether the out-of-fold calibration is applied.
        """
        measured = (self.tempered if is_tempered else self.as_trained)[metric]["value"]
        return float("nan") if measured is None else float(measured)

    def null(self, metric: str, *, is_tempered: bool = False) -> dict[str, float] | None:
        """Null level: mean, 97.5th percentile and p-value of a perfectly calibrated model.

        Args:
            metric: Name of a calibration error; other metrics have no null level.
            is_tempered: Whether the out-of-fold calibration is applied.
        """
        level = (self.tempered if is_tempered else self.as_trained)[metric].get("null")
        return None if level is None else dict(level)

    def test_logits(self, *, is_tempered: bool = False) -> Float[ndarray, "examples classes"]:
        """Logits of the test part, from which the metrics were computed.

        Args:
            is_tempered: Whether the out-of-fold calibration is applied.
        """
        if self.logits is None or self.calibrated_logits is None:
            raise ValueError(f"run {self.config.id} was read without its predictions")
        return self.calibrated_logits if is_tempered else self.logits

    def to_dict(self) -> dict[str, Any]:
        """The content of ``run.json``: everything except the predictions."""
        kept = {
            part.name: getattr(self, part.name)
            for part in fields(self)
            if part.name not in _UNSTORED
        }
        kept[_FOLDS_KEY] = kept.pop("fold_metrics")
        kept |= {"config": self.config.to_dict(), "classes": list(self.classes)}
        return {"format": FORMAT, "id": self.config.id} | kept

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Run":
        """Read the result of ``to_dict``, or raise if it does not match its schema."""
        if isinstance(values, dict) and values.get("format") != FORMAT:
            raise ValueError(f"this version does not read runs of format {values.get('format')}")
        matched(values, RunRecord)
        kept = {
            part.name: values[part.name]
            for part in fields(cls)
            if part.name in values and part.name not in _UNSTORED
        }
        kept["fold_metrics"] = values.get(_FOLDS_KEY, {})
        kept["config"] = RunConfig.from_dict(values["config"])
        kept["classes"] = tuple(values["classes"])
        return cls(**kept)


def checked_predictions(
    arrays: Mapping[str, Shaped[ndarray, "..."]], run: Run
) -> dict[str, Shaped[ndarray, "..."]]:
    """The arrays of ``predictions.npz``, or raise if they are not of this run."""
    kept = {name: arrays[name] for name in ARRAYS if name in arrays}
    rows = {"labels": len(kept["labels"]), "fold_labels": len(kept.get("fold_labels", ()))}
    for name, array in kept.items():
        count = rows["fold_labels" if name.startswith("fold") else "labels"]
        is_logits, is_decided = name in _LOGITS, name in ("sets", "answered")
        columns = len(RISKS) if name == "answered" else len(run.classes)
        is_valid = (
            array.dtype.kind in ("f" if is_logits else "b" if is_decided else "iu")
            and array.shape == ((count, columns) if is_logits or is_decided else (count,))
            and (not is_logits or bool(np.isfinite(array).all()))
            and (not name.endswith("labels") or bool((array < len(run.classes)).all()))
            and (is_logits or bool((array >= 0).all()))
        )
        if not is_valid:
            raise ValueError(f"{name} does not fit, {array.dtype} of shape {array.shape}")
    if "logits" not in kept:
        raise ValueError("logits are missing")
    return {"calibrated_logits": kept["logits"]} | kept  # which are stored if they differ


def failed_runs(configs: Iterable[RunConfig], reason: str) -> list[Run]:
    """Failed runs, one for each config.

    Args:
        reason: Why they failed; tables show the first line.
    """
    return [Run(config=config, reason=reason, versions=versions()) for config in configs]
