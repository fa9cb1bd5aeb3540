"""The content of the report page."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from oddkout.checks import Number
from oddkout.comparing.comparison import Comparison
from oddkout.comparing.config import RunConfig
from oddkout.comparing.contestants import table_order
from oddkout.comparing.fingerprint import changed
from oddkout.comparing.perform import data_for
from oddkout.comparing.rows import KINDS, Row, table_rows
from oddkout.comparing.run import Run
from oddkout.comparing.schema import COMPARED
from oddkout.diagnosis import Diagnosis, doctor
from oddkout.report.headline import headline
from oddkout.report.pictures import Picture, pictures
from oddkout.report.pooling import rare_classes

_QUESTIONS = (
    ("Most accurate", "accuracy", True),
    ("Best probabilities", "nll", True),
    ("Best probabilities as trained", "nll", False),
)


@dataclass(frozen=True, kw_only=True)
class Page:
    """The report page of a comparison.

    Attributes:
        comparison: The comparison, with the predictions of its runs.
        command: The command that repeats it.
        diagnosis: The findings of ``doctor``, or why it could not read the data.
    """

    comparison: Comparison
    command: str
    diagnosis: Diagnosis | str

    @property
    def title(self) -> str:
        """Title of the setting."""
        return self.comparison.title

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        return headline(self.comparison)

    @cached_property
    def pictures(self) -> dict[str, list[Picture]]:
        """The pictures by kind."""
        return pictures(self.comparison)

    @cached_property
    def tables(self) -> list[tuple[bool, list[Row]]]:
        """The rows of the tables: calibrated (True) and as trained (False)."""
        return [(kind, table_rows(self.comparison, is_tempered=kind)) for kind in KINDS]

    @cached_property
    def spans(self) -> dict[str, tuple[float, float]]:
        """The common range of the bars of each metric, in both tables."""
        spans = {}
        for column, metric in enumerate(COMPARED):
            cells = [row.cells[column] for _, rows in self.tables for row in rows]
            values = [value for cell in cells for value in vars(cell.interval).values()]
            for cell in cells:
                values += [] if cell.null is None else [0.0, cell.null[1]]
            spans[metric] = _span(values)
        return spans

    @cached_property
    def answers(self) -> list[dict[str, Any]]:
        """The best method for each question, and the paired differences of the others to it."""
        if not self.comparison.methods:
            return []
        return [_answer(self.comparison, *question) for question in _QUESTIONS]

    @property
    def first(self) -> Run | None:
        """The first successful run, for what all runs share."""
        return next((run for run in self.comparison.runs if not run.has_failed), None)

    @cached_property
    def has_rare(self) -> bool:
        """Whether some classes are rare in training."""
        return any(rare_classes(run) for run in self.comparison.runs if not run.has_failed)

    @cached_property
    def class_counts(self) -> list[tuple[str, str, int]]:
        """Name, number of training examples (a range over seeds) and of test examples."""
        if self.first is None or self.first.labels is None:
            return []
        by_seed = {
            run.config.seed: run.train_counts for run in self.comparison.runs if not run.has_failed
        }
        counts = np.array(list(by_seed.values()))
        test = np.bincount(self.first.labels, minlength=len(self.first.classes))
        rows = []
        for number in np.argsort(-counts.mean(axis=0), kind="stable"):
            low, high = counts[:, number].min(), counts[:, number].max()
            size = f"{low:,}" if low == high else f"{low:,} to {high:,}"
            rows.append((self.first.classes[number], size, int(test[number])))
        return rows

    @cached_property
    def all_runs(self) -> list[Run]:
        """All runs, including tuning runs, sorted by method, seed and learning rate."""
        runs = {run.config: run for run in (*self.comparison.tuning, *self.comparison.runs)}
        order = table_order({run.config.method for run in runs.values()})
        return sorted(
            runs.values(),
            key=lambda run: (
                order.index(run.config.method), run.config.seed, run.config.learning_rate
            ),
        )  # fmt: skip

    @cached_property
    def shared_config(self) -> dict[str, str]:
        """The fields that are equal in all configs."""
        return {name: _as_text(values[0]) for name, values in self._values.items() if _same(values)}

    @cached_property
    def own_fields(self) -> list[str]:
        """Names of the fields in which configs differ."""
        return [name for name, values in self._values.items() if not _same(values)]

    @cached_property
    def versions(self) -> list[tuple[str, int]]:
        """The software versions, each with the number of its runs."""
        counts = Counter(
            ", ".join(f"{name} {value}" for name, value in run.versions.items())
            for run in self.all_runs
        )
        return list(counts.items())

    def field(self, run: Run, name: str) -> str:
        """A field of a run's config as text."""
        return _as_text(getattr(run.config, name))

    def use(self, run: Run) -> str:
        """The purpose of a run: compared, or to choose the learning rate."""
        is_compared = run.config in {other.config for other in self.comparison.runs}
        return "compared" if is_compared else "learning rate"

    @property
    def notes(self) -> list[str]:
        """The notes of all runs, without duplicates."""
        return list(dict.fromkeys(note for run in self.comparison.runs for note in run.notes))

    @cached_property
    def _values(self) -> dict[str, list[Any]]:
        configs = [run.config.to_dict() for run in self.all_runs]
        return {name: [config[name] for config in configs] for name in configs[0]}


def diagnosed(comparison: Comparison) -> Diagnosis | str:
    """The findings of ``doctor`` for the first seed, or why it cannot read the data."""
    config = _first_config(comparison)
    try:
        if reason := changed(config):
            return reason
        return doctor(data_for(config))
    except (ValueError, OSError, ModuleNotFoundError) as error:
        return str(error)


def _answer(
    comparison: Comparison, question: str, metric: str, is_tempered: bool
) -> dict[str, Any]:
    """The best method for one question, and the differences of the others to it."""
    best = comparison.best(metric, is_tempered=is_tempered)
    tied = comparison.tied(metric, is_tempered=is_tempered)
    others = [
        (name, comparison.lag(name, metric, is_tempered=is_tempered), name in tied)
        for name in comparison.methods
        if name != best
    ]
    others.sort(key=lambda other: other[1].mean)
    limits = [limit for _, lag, _ in others for limit in (lag.low, lag.high, lag.mean)]
    return {
        "question": question,
        "metric": metric,
        "best": best,
        "interval": comparison.mean(best, metric, is_tempered=is_tempered),
        "others": others,
        "span": _span([0.0, *limits]),
    }


def _span(values: Sequence[Number]) -> tuple[Number, Number]:
    """The range of the values, ignoring NaN."""
    known = [value for value in values if value == value]
    return min(known), max(known)


def _first_config(comparison: Comparison) -> RunConfig:
    """A config with the first seed."""
    return min((run.config for run in comparison.runs), key=lambda config: config.seed)


def _same(values: Sequence[Any]) -> bool:
    return all(value == values[0] for value in values)


def _as_text(value: Any) -> str:
    """A value of a config as text."""
    if value is None or value in ("", ()):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
