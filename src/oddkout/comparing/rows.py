"""The rows of a comparison: what every table shows, one for each method."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.schema import COMPARED
from oddkout.comparing.statistics import Interval
from oddkout.metrics.catalogue import METRICS

# Calibrated first, because ``oddkout train`` returns the calibrated classifier.
KINDS = {True: "calibrated out of fold", False: "as trained"}


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
        metric = METRICS[self.metric]
        mean, low, high = (
            metric.written(value)
            for value in (self.interval.mean, self.interval.low, self.interval.high)
        )
        return mean if low == "nan" else f"{mean} [{low}, {high}]"

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


def table_rows(comparison: Comparison, *, is_tempered: bool) -> list[Row]:
    """The rows of all tables: one for each method without a failed run.

    Args:
        is_tempered: Whether the out-of-fold temperature is applied.
    """
    if not comparison.methods:
        return []
    best = {metric: comparison.best(metric, is_tempered=is_tempered) for metric in COMPARED}
    tied = {metric: comparison.tied(metric, is_tempered=is_tempered) for metric in COMPARED}
    rows = []
    for method in comparison.methods:
        runs = comparison.by_method[method]
        cells = []
        for metric in COMPARED:
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
                    is_best=method == best[metric],
                    is_tied=method in tied[metric],
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
