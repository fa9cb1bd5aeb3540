"""One setting of a report: all that its part of the page shows."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from oddkout.comparing.comparison import METRICS, Comparison
from oddkout.comparing.config import RunConfig
from oddkout.comparing.fingerprint import identified
from oddkout.comparing.perform import data_for
from oddkout.comparing.run import Run
from oddkout.diagnosis import Diagnosis, doctor
from oddkout.fitting.methods import METHODS
from oddkout.report.headline import headline
from oddkout.report.pictures import Picture, pictures
from oddkout.report.pooling import rare_classes
from oddkout.report.tables import Row, table_rows

_QUESTIONS = (
    ("Most accurate", "accuracy", False),
    ("Best probabilities as trained", "nll", False),
    ("Best probabilities with a temperature", "nll", True),
)


@dataclass(frozen=True, kw_only=True)
class Section:
    """One setting of the page.

    Attributes:
        title: What the setting is called.
        comparison: Its comparison; the runs have their predictions.
        command: What performs it again.
        looked_at: What ``doctor`` saw, or why it could not look.
        number: Its number on the page.
    """

    title: str
    comparison: Comparison
    command: str
    looked_at: Diagnosis | str
    number: int

    @property
    def name(self) -> str:
        """A name for its part of the page."""
        return f"setting-{self.number}"

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        return headline(self.comparison)

    @cached_property
    def pictures(self) -> dict[str, list[Picture]]:
        """Its pictures by kind."""
        return pictures(self.comparison, name=self.name)

    @cached_property
    def tables(self) -> list[tuple[bool, list[Row]]]:
        """Its rows, as trained and with the out-of-fold temperature."""
        return [(kind, table_rows(self.comparison, is_tempered=kind)) for kind in (False, True)]

    @cached_property
    def spans(self) -> dict[str, tuple[float, float]]:
        """The range that the bars of each metric share, as trained and tempered."""
        spans = {}
        for place, metric in enumerate(METRICS):
            cells = [row.cells[place] for _, rows in self.tables for row in rows]
            values = [value for cell in cells for value in vars(cell.found).values()]
            for cell in cells:
                values += [] if cell.null is None else [0.0, cell.null[1]]
            spans[metric] = _span(values)
        return spans

    @cached_property
    def answers(self) -> list[dict[str, Any]]:
        """What is best at what, and by how much: paired differences from the best."""
        if not self.comparison.methods:
            return []
        return [_answer(self.comparison, *question) for question in _QUESTIONS]

    @property
    def first(self) -> Run | None:
        """The first run that ended well, for what all of them share."""
        return next((run for run in self.comparison.runs if not run.has_failed), None)

    @cached_property
    def has_rare(self) -> bool:
        """Whether some classes are rare in training."""
        return any(rare_classes(run) for run in self.comparison.runs if not run.has_failed)

    @cached_property
    def class_counts(self) -> list[tuple[str, str, int]]:
        """Training examples, over seeds, and test examples of every class."""
        if self.first is None or self.first.labels is None:
            return []
        by_seed = {
            run.config.seed: run.train_counts for run in self.comparison.runs if not run.has_failed
        }
        counts = np.array(list(by_seed.values()))
        test = np.bincount(self.first.labels, minlength=len(self.first.classes))
        rows = []
        for place in np.argsort(-counts.mean(axis=0), kind="stable"):
            low, high = counts[:, place].min(), counts[:, place].max()
            shown = f"{low:,}" if low == high else f"{low:,} to {high:,}"
            rows.append((self.first.classes[place], shown, int(test[place])))
        return rows

    @cached_property
    def all_runs(self) -> list[Run]:
        """All runs, those that tuned among them, in a reader's order."""
        runs = {
            run.config: run
            for run in (*self.comparison.tuning, *self.comparison.unpaired, *self.comparison.runs)
        }
        order = list(METHODS)
        return sorted(
            runs.values(),
            key=lambda run: (
                order.index(run.config.method), run.config.seed, run.config.learning_rate
            ),
        )  # fmt: skip

    @cached_property
    def shared_config(self) -> dict[str, str]:
        """What all configs agree in."""
        return {name: _shown(values[0]) for name, values in self._values.items() if _same(values)}

    @cached_property
    def own_fields(self) -> list[str]:
        """What configs differ in."""
        return [name for name, values in self._values.items() if not _same(values)]

    @cached_property
    def versions(self) -> list[tuple[str, int]]:
        """What runs were made with, and how many of them were."""
        found: dict[str, int] = {}
        for run in self.all_runs:
            text = ", ".join(f"{name} {value}" for name, value in run.versions.items())
            found[text] = found.get(text, 0) + 1
        return list(found.items())

    def shown(self, run: Run, name: str) -> str:
        """A field of a run's config, for people.

        Args:
            run: The run.
            name: The field.
        """
        return _shown(getattr(run.config, name))

    def use(self, run: Run) -> str:
        """What a run was for.

        Args:
            run: The run.
        """
        if run.config in {other.config for other in self.comparison.runs}:
            return "compared"
        tuned = run.config in {other.config for other in self.comparison.tuning}
        return "learning rate" if tuned else "left out"

    @property
    def notes(self) -> list[str]:
        """What a reader must know."""
        found = dict.fromkeys(note for run in self.comparison.runs for note in run.notes)
        if self.comparison.unpaired:
            count = len(self.comparison.unpaired)
            found[
                f"{count} finished run{'s are' if count > 1 else ' is'} left out, since not every "
                "method has one with the same seed yet"
            ] = None
        return list(found)

    @cached_property
    def _values(self) -> dict[str, list[Any]]:
        configs = [asdict(run.config) for run in self.all_runs]
        return {name: [config[name] for config in configs] for name in configs[0]}


def diagnosed(comparison: Comparison) -> Diagnosis | str:
    """The data of the first seed as ``doctor`` sees them, or why they cannot be looked at.

    Args:
        comparison: The comparison.
    """
    config = _first_config(comparison)
    is_there = Path(config.data).exists()
    if config.fingerprint and is_there and identified(config).fingerprint != config.fingerprint:
        return f"{config.data} has changed since the runs were made"
    try:
        return doctor(data_for(config))
    except (ValueError, OSError, ModuleNotFoundError) as error:
        return str(error)


def _answer(
    comparison: Comparison, question: str, metric: str, is_tempered: bool
) -> dict[str, Any]:
    """The best method, and how far the others are behind."""
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
        "found": comparison.mean(best, metric, is_tempered=is_tempered),
        "others": others,
        "span": _span([0.0, *limits]),
    }


def _span(values: Sequence[float]) -> tuple[float, float]:
    """The range of some values, what is unknown left out."""
    known = [value for value in values if value == value]
    return min(known), max(known)


def _first_config(comparison: Comparison) -> RunConfig:
    """The config of the first seed."""
    return min((run.config for run in comparison.runs), key=lambda config: config.seed)


def _same(values: Sequence[Any]) -> bool:
    return all(value == values[0] for value in values)


def _shown(value: Any) -> str:
    """A value of a config for people."""
    if value is None or value in ("", ()):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
