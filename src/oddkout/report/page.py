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
from oddkout.comparing.deciding import class_sets, mean_confusion
from oddkout.comparing.fingerprint import changed
from oddkout.comparing.perform import data_for
from oddkout.comparing.rows import Table, tables_of
from oddkout.comparing.run import Run
from oddkout.data import Data
from oddkout.diagnosis import Diagnosis, doctor
from oddkout.metrics.catalogue import CATALOGUE
from oddkout.report.action import Action
from oddkout.report.confusion import Confusion
from oddkout.report.glossary import GlossaryEntry, glossary
from oddkout.report.headline import headline
from oddkout.report.mistakes import Mistake, confident_mistakes
from oddkout.report.pictures import Picture, pictures
from oddkout.report.pooling import rare_classes

_QUESTIONS = (
    ("Most accurate", "accuracy", True),
    ("Best probabilities", "nll", True),
    ("Best probabilities as trained", "nll", False),
)
_CHEAPEST = ("Cheapest", "cost", True)


@dataclass(frozen=True, kw_only=True)
class Page:
    """The report page of a comparison.

    Attributes:
        comparison: The comparison, with the predictions of its runs.
        command: The command that repeats it.
        action: What to do.
        data: The data of the first seed, or why they could not be read.
        has_mistakes: Whether to show confident mistakes, which are examples of the test part.
    """

    comparison: Comparison
    command: str
    action: Action
    data: Data | str
    has_mistakes: bool = True

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

    @property
    def lead(self) -> str | None:
        """The method that is shown first: the winner, or without folds that with the best NLL."""
        if not self.comparison.methods:
            return None
        return self.comparison.winner or self.comparison.best("nll", is_tempered=True)

    # The kinds of pictures that there are for each method.
    kinds = ("reliability", "entropy", "classes", "learning")

    def first_pictures(self, kind: str) -> list[Picture]:
        """The pictures of the method that is shown first."""
        return [one for one in self.pictures[kind] if one.method == self.lead]

    def other_pictures(self, kind: str) -> list[Picture]:
        """The pictures of the other methods."""
        return [one for one in self.pictures[kind] if one.method != self.lead]

    @cached_property
    def tables(self) -> list[tuple[str, Table]]:
        """The tables, each with its kind: ``tempered``, ``as_trained`` or ``decisions``."""
        tables = tables_of(self.comparison)
        return list(zip(("tempered", "as_trained", "decisions"), tables, strict=False))

    @cached_property
    def spans(self) -> dict[str, tuple[float, float]]:
        """The common range of the bars of each metric, in all tables."""
        cells = [cell for _, table in self.tables for row in table.rows for cell in row.cells]
        spans = {}
        for metric in dict.fromkeys(cell.metric for cell in cells):
            if metric in self.comparison.tried and CATALOGUE[metric].highest == 1:
                spans[metric] = (0.0, 1.0)
                continue
            mine = [cell for cell in cells if cell.metric == metric]
            values = [value for cell in mine for value in vars(cell.interval).values()]
            for cell in mine:
                values += [] if cell.null is None else [0.0, cell.null[1]]
            spans[metric] = _span(values)
        return spans

    @cached_property
    def class_sets(self) -> list[dict[str, Any]]:
        """Coverage and size of the sets of each class, for the method that is shown first."""
        if self.lead is None or not self.comparison.tried:
            return []
        return class_sets(self.comparison.by_method[self.lead])

    @cached_property
    def confusion(self) -> Confusion | None:
        """Who is taken for whom by the method that is shown first."""
        if self.lead is None:
            return None
        runs = self.comparison.by_method[self.lead]
        return Confusion(runs[0].classes, mean_confusion(runs))

    @cached_property
    def mistakes(self) -> list[Mistake]:
        """The most confident mistakes of the method that is shown first, on the first seed."""
        if self.lead is None or isinstance(self.data, str) or not self.has_mistakes:
            return []
        return confident_mistakes(self.comparison.by_method[self.lead][0], self.data)

    @cached_property
    def diagnosis(self) -> Diagnosis | str:
        """The findings of ``doctor`` for the first seed, or why it cannot read the data."""
        return self.data if isinstance(self.data, str) else doctor(self.data)

    @property
    def terms(self) -> list[tuple[str, list[GlossaryEntry]]]:
        """The glossary."""
        return glossary(self.comparison)

    @cached_property
    def answers(self) -> list[dict[str, Any]]:
        """The best method for each question, and the paired differences of the others to it."""
        if not self.comparison.methods:
            return []
        third = _QUESTIONS[2] if self.comparison.costs is None else _CHEAPEST
        return [_answer(self.comparison, *question) for question in (*_QUESTIONS[:2], third)]

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


def first_data(comparison: Comparison) -> Data | str:
    """The data of the first seed, or why they cannot be read."""
    config = _first_config(comparison)
    try:
        if reason := changed(config):
            return reason
        return data_for(config)
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
