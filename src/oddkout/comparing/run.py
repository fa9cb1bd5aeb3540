"""The outcome of a run: its numbers and predictions, or why there are none."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from jaxtyping import Float, Int
from numpy import ndarray

from oddkout.comparing.config import FORMAT, RunConfig
from oddkout.version import versions

# What ``run.json`` and committed lines call the metrics of the folds.
_FOLDS_KEY = "out_of_fold"

# Fields that are stored as arrays, beside ``run.json``.
ARRAYS = ("logits", "labels", "fold_logits", "fold_labels")


@dataclass(kw_only=True)
class Run:
    """The outcome of a run: its numbers and predictions, or the reason why there are none.

    Attributes:
        config: The config.
        reason: Why it failed; empty if it did not.
        classes: Names of the classes.
        train_counts: Number of training examples of every class.
        prior: Class frequencies that its probabilities are for.
        temperature: The out-of-fold temperature.
        fold_metrics: NLL and accuracy of the out-of-fold predictions, with a temperature that is
            itself out of fold; classes weigh as they do in the population.
        as_trained: Metrics of the test part, each with interval and null level.
        tempered: The same with the out-of-fold temperature.
        log: Learning curve.
        seconds: Seconds of training, folds and evaluation; and CPU-seconds of the job, shared by
            all runs that trained together.
        notes: What a reader must know.
        versions: Versions of the software that made it.
        logits: Logits of the test part, as trained.
        labels: Its classes.
        fold_logits: Out-of-fold logits of the training part, for the same prior, not tempered.
        fold_labels: Its classes.
    """

    config: RunConfig
    reason: str = ""
    classes: tuple[str, ...] = ()
    train_counts: list[int] = field(default_factory=list)
    prior: list[float] = field(default_factory=list)
    temperature: float = 1.0
    fold_metrics: dict[str, float] = field(default_factory=dict)
    as_trained: dict[str, Any] = field(default_factory=dict)
    tempered: dict[str, Any] = field(default_factory=dict)
    log: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    logits: Float[ndarray, "examples classes"] | None = None
    labels: Int[ndarray, " examples"] | None = None
    fold_logits: Float[ndarray, "train classes"] | None = None
    fold_labels: Int[ndarray, " train"] | None = None

    @property
    def has_failed(self) -> bool:
        """Whether there is a reason instead of numbers."""
        return bool(self.reason)

    def value(self, metric: str, *, is_tempered: bool = False) -> float:
        """A metric of the test part.

        Args:
            metric: Its name, as ``evaluate`` has it.
            is_tempered: Whether with the out-of-fold temperature.
        """
        measured = (self.tempered if is_tempered else self.as_trained)[metric]["value"]
        return float("nan") if measured is None else float(measured)

    def null(self, metric: str, *, is_tempered: bool = False) -> dict[str, float] | None:
        """What a perfectly calibrated model would score: mean, 95th percentile and p-value.

        Args:
            metric: Name of a calibration error; other metrics have no null level.
            is_tempered: Whether with the out-of-fold temperature.
        """
        found = (self.tempered if is_tempered else self.as_trained)[metric].get("null")
        return None if found is None else dict(found)

    def test_logits(self, *, is_tempered: bool = False) -> Float[ndarray, "examples classes"]:
        """Logits of the test part, of which the metrics are.

        Args:
            is_tempered: Whether with the out-of-fold temperature.
        """
        if self.logits is None:
            raise ValueError(f"run {self.config.id} was read without its predictions")
        own = self.config.spec.temperature
        if not is_tempered or own == "fit":  # which is that temperature
            return self.logits
        undone = float(own) if isinstance(own, float | int) else 1.0
        return self.logits * (undone / self.temperature)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the predictions, as ``run.json`` holds it."""
        kept = {
            part.name: getattr(self, part.name) for part in fields(self) if part.name not in ARRAYS
        }
        kept[_FOLDS_KEY] = kept.pop("fold_metrics")
        kept |= {"config": asdict(self.config), "classes": list(self.classes)}
        return {"format": FORMAT, "id": self.config.id} | kept

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Run":
        """Read what ``to_dict`` wrote.

        Args:
            values: The content of ``run.json``.
        """
        if values.get("format") != FORMAT:
            raise ValueError(f"a run of format {values.get('format')} is not read by this version")
        kept = {part.name: values[part.name] for part in fields(cls) if part.name in values}
        kept["fold_metrics"] = values.get(_FOLDS_KEY, {})
        kept["config"] = RunConfig.from_dict(values["config"])
        kept["classes"] = tuple(values["classes"])
        return cls(**kept)


def failed_runs(configs: Iterable[RunConfig], reason: str) -> list[Run]:
    """Runs that came to nothing.

    Args:
        configs: What was to be run.
        reason: Why it failed; a table shows the first line.
    """
    return [Run(config=config, reason=reason, versions=versions()) for config in configs]
