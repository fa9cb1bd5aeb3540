"""The rows of a comparison: what every table shows, one for each method."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.statistics import Interval
from oddkout.metrics.catalogue import CATALOGUE

# Calibrated first, because ``oddkout train`` returns the calibrated classifier.
KINDS = {True: "calibrated out of fold", False: "as trained"}

# The table of sets and answers, from the calibrated classifier.
DECISIONS_TITLE = "decisions on test cases, by out-of-fold predictions"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One table entry: a mean over seeds, and how it compares to the best.

    Attributes:
        metric: Name of the metric.
        interval: Mean over seeds with its 95 % confidence interval, which counts training and
            test sample.
        null: For calibration errors, the score of a perfectly calibrated model: mean and 97.5th
            percentile, averaged over seeds.
        is_best: Whether no method has a better mean.
        is_tied: Whether the difference to the best is within chance.
    """

    metric: str
    interval: Interval
    null: tuple[float, float] | None
    is_best: bool
    is_tied: bool

    @property
    def text(self) -> str:
        """Mean and limits of the interval; the mean alone if they are not known."""
        metric = CATALOGUE[self.metric]
        mean, low, high = (
            metric.written(value)
            for value in (self.interval.mean, self.interval.low, self.interval.high)
        )
        return mean if low == "nan" else f"{mean} [{low}, {high}]"

    @property
    def parts(self) -> tuple[str, str]:
        """The mean, and the limits of its interval in brackets; empty if they are not known."""
        mean, _, limits = self.text.partition(" ")
        return mean, limits

    @property
    def mark(self) -> str:
        """``*`` for the best, ``~`` if the difference to the best is within chance."""
        return "*" if self.is_best else "~" if self.is_tied else ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One method: an entry for each metric, its learning rate and its mean temperature."""

    method: str
    cells: Sequence[Cell]
    learning_rate: float | None
    temperature: float

    @property
    def rate(self) -> str:
        """The learning rate as text; a contestant that is not ours has none."""
        return "-" if self.learning_rate is None else f"{self.learning_rate:g}"


@dataclass(frozen=True, kw_only=True)
class Table:
    """One table of a comparison.

    Attributes:
        title: What it shows.
        metrics: The columns.
        rows: The rows.
        has_rate: Whether the learning rates are shown.
        has_temperature: Whether the temperatures are shown.
    """

    title: str
    metrics: Sequence[str]
    rows: Sequence[Row]
    has_rate: bool = True
    has_temperature: bool = False


def tables_of(comparison: Comparison) -> list[Table]:
    """The tables that every format shows: metrics of both kinds, and decisions if there are any."""
    tables = [
        Table(
            title=title,
            metrics=comparison.compared,
            rows=table_rows(comparison, is_tempered=is_tempered),
            has_temperature=is_tempered,
        )
        for is_tempered, title in KINDS.items()
    ]
    if comparison.tried:
        rows = table_rows(comparison, is_tempered=True, metrics=comparison.tried)
        tables.append(
            Table(title=DECISIONS_TITLE, metrics=comparison.tried, rows=rows, has_rate=False)
        )
    return tables


def table_rows(
    comparison: Comparison, *, is_tempered: bool, metrics: Sequence[str] | None = None
) -> list[Row]:
    """The rows of all tables: one for each method without a failed run.

    Args:
        is_tempered: Whether the out-of-fold temperature is applied.
        metrics: The columns; by default the compared metrics.
    """
    if not comparison.methods:
        return []
    shown = comparison.compared if metrics is None else metrics
    judged = [metric for metric in shown if _has_best(comparison, metric, is_tempered=is_tempered)]
    best = {metric: comparison.best(metric, is_tempered=is_tempered) for metric in judged}
    tied = {metric: comparison.tied(metric, is_tempered=is_tempered) for metric in judged}
    rows = []
    for method in comparison.methods:
        runs = comparison.by_method[method]
        cells = []
        for metric in shown:
            nulls = [run.null(metric, is_tempered=is_tempered) for run in runs]
            known = [null for null in nulls if null is not None]
            cells.append(
                Cell(
                    metric=metric,
                    interval=comparison.mean(method, metric, is_tempered=is_tempered),
                    null=(
                        fmean(null["mean"] for null in known),
                        fmean(null["high"] for null in known),
                    )
                    if known
                    else None,
                    is_best=method == best.get(metric),
                    is_tied=method in tied.get(metric, ()),
                )
            )
        rows.append(
            Row(
                method=method,
                cells=cells,
                learning_rate=None
                if runs[0].config.is_outsider
                else float(runs[0].config.learning_rate),
                temperature=fmean(run.temperature for run in runs),
            )
        )
    return rows


def _has_best(comparison: Comparison, metric: str, *, is_tempered: bool) -> bool:
    """Whether a metric has a direction, and methods differ in it."""
    means = {
        comparison.mean(name, metric, is_tempered=is_tempered).mean for name in comparison.methods
    }
    return CATALOGUE[metric].direction != "none" and (len(means) > 1 or len(comparison.methods) < 2)
