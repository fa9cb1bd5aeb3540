"""The paper's tables, with our numbers beside the paper's."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from oddkout.comparing.statistics import Interval
from oddkout.fitting.methods import PAPER_METHODS
from oddkout.metrics.catalogue import Metric
from oddkout.paper.document import Document, Heading, TextTable
from oddkout.paper.evidence import Evidence, measure
from oddkout.paper.presets import ONLY_HEAVY
from oddkout.paper.published import PublishedTable
from oddkout.paper.settings import DISTRIBUTIONS, TITLES, PaperDistribution, Setting, paper_sizes
from oddkout.paper.variants import ADJUSTED_METHODS, VARIANTS

# Rows of each table; some are not in the paper.
_ABLATIONS = ("pair", "oko", "oko-k1", "oko-k2", "oko-k3")
_METHODS = (*PAPER_METHODS, "oko-paper", *ADJUSTED_METHODS)
_ROWS = {
    "table-1": _METHODS,
    "table-2": _METHODS,
    "table-3": _ABLATIONS,
    "table-4": (*_ABLATIONS[1:], "oko-soft", "oko-soft-k2", "oko-soft-k3"),
}


@dataclass(frozen=True, kw_only=True)
class PaperCell:
    """One cell of a table: our number and the paper's.

    Attributes:
        ours: Our mean over the sizes of the column, with its confidence interval over seeds.
        seeds: Number of seeds.
        sizes: Examples per class for which this variant has runs.
        column_sizes: Examples per class that the column averages over.
        paper: The paper's number, averaged over all of its sizes.
        is_whole: Whether the column averages over all sizes of the paper.
    """

    ours: Interval | None
    seeds: int
    sizes: tuple[int, ...]
    column_sizes: tuple[int, ...]
    paper: float | None
    is_whole: bool

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's; none if the two average over different sizes."""
        if self.ours is None or self.paper is None or not self.is_whole:
            return None
        return self.ours.mean - self.paper


def table_cell(
    evidence: Evidence,
    table: PublishedTable,
    variant: str,
    data: str,
    distribution: PaperDistribution,
) -> PaperCell:
    """One cell of a table.

    A column of tables 1 and 2 averages over the sizes that OKO has, one of an ablation over the
    sizes that all of its rows have. A variant that lacks one of them has no number.
    """
    anchors = [name for name in ("oko", *evidence.variants) if name in table.rows]
    anchors = [name for name in anchors if evidence.sizes(data, distribution, name)]
    if table.name in ("table-1", "table-2"):
        anchors = anchors[:1]
    wanted = evidence.sizes(data, distribution, *anchors) if anchors else []
    own = [size for size in evidence.sizes(data, distribution, variant) if size in wanted]
    settings = [Setting(data, distribution, size) for size in own]
    value_of = measure(table.metric)
    is_complete = bool(wanted) and own == wanted
    return PaperCell(
        ours=evidence.mean(settings, variant, value_of) if is_complete else None,
        seeds=len(evidence.by_seed(settings, variant, value_of)) if is_complete else 0,
        sizes=tuple(own),
        column_sizes=tuple(wanted),
        paper=table.value(variant, data, distribution),
        is_whole=tuple(wanted) == paper_sizes(data),
    )


def paper_table(evidence: Evidence, table: PublishedTable) -> Document:
    """A table of the paper, in one part per data set, our numbers beside the paper's.

    Rows that are an ablation in another table of the paper are not repeated in tables 1 and 2.
    """
    document = Document()
    number = table.name.removeprefix("table-")
    document.add(Heading(f"Table {number}. {table.title}", level=3))
    missing = []
    for data in list(TITLES)[:4]:
        if not any(evidence.sizes(data, distribution) for distribution in DISTRIBUTIONS):
            missing.append(TITLES[data])
            continue
        rows = []
        for variant in _ROWS[table.name]:
            cells = [
                table_cell(evidence, table, variant, data, distribution)
                for distribution in DISTRIBUTIONS
            ]
            is_elsewhere = variant in ("pair", "oko-soft") and variant not in table.rows
            has_numbers = any(cell.ours is not None for cell in cells)
            if not is_elsewhere and (has_numbers or any(cell.paper is not None for cell in cells)):
                texts = [text for cell in cells for text in _texts(cell, table)]
                if variant in ONLY_HEAVY and cells[0].ours is None:
                    texts[0] = f"as {VARIANTS[ONLY_HEAVY[variant]].title}"
                rows.append([VARIANTS[variant].title, *texts])
        document.add(_sizes_sentence(evidence, table, data))
        titles = [
            f"{distribution}: {column}"
            for distribution in DISTRIBUTIONS
            for column in ("here", "paper", "difference")
        ]
        document.add(TextTable(header=[TITLES[data], *titles], rows=rows))
    if missing:
        document.add(f"Not yet performed: {', '.join(missing)}.")
    return document


def compact_table(evidence: Evidence, table: PublishedTable, datasets: Sequence[str]) -> TextTable:
    """A table of the paper without its ablations, one column for each distribution.

    A cell has our number, and in brackets the paper's and the difference.
    """
    columns = [(data, distribution) for data in datasets for distribution in DISTRIBUTIONS]
    rows = []
    for variant in _ROWS[table.name]:
        cells = [table_cell(evidence, table, variant, *column) for column in columns]
        is_elsewhere = variant in ("pair", "oko-soft") and variant not in table.rows
        if not is_elsewhere and any(cell.ours is not None for cell in cells):
            texts = [_compact(cell, table) for cell in cells]
            if variant in ONLY_HEAVY:
                same = f"as {VARIANTS[ONLY_HEAVY[variant]].title}"
                texts = [
                    same if cell.ours is None and distribution == "uniform" else text
                    for (_, distribution), cell, text in zip(columns, cells, texts, strict=True)
                ]
            rows.append([VARIANTS[variant].title, *texts])
    titles = [f"{TITLES[data]}, {distribution}" for data, distribution in columns]
    return TextTable(header=[table.title, *titles], rows=rows)


def paper_table_json(evidence: Evidence, table: PublishedTable) -> dict[str, Any]:
    """All numbers of a table as plain values for JSON."""
    cells = []
    for variant in _ROWS[table.name]:
        for data in list(TITLES)[:4]:
            for distribution in DISTRIBUTIONS:
                cell = table_cell(evidence, table, variant, data, distribution)
                ours = cell.ours
                known = ours is not None and ours.low == ours.low
                cells.append(
                    {
                        "method": variant,
                        "data": data,
                        "distribution": distribution,
                        "mean": ours.mean if ours else None,
                        "low": ours.low if ours and known else None,
                        "high": ours.high if ours and known else None,
                        "seeds": cell.seeds,
                        "sizes": list(cell.column_sizes),
                        "paper": cell.paper,
                        "difference": cell.difference,
                    }
                )
    return {"title": table.title, "label": table.label, "metric": table.metric, "cells": cells}


def _sizes_sentence(evidence: Evidence, table: PublishedTable, data: str) -> str:
    """The sizes that the columns average over, in words."""
    parts = []
    for distribution in DISTRIBUTIONS:
        cell = table_cell(evidence, table, "oko", data, distribution)
        sizes = cell.column_sizes
        count = "all" if cell.is_whole else f"{len(sizes)} of {len(paper_sizes(data))} sizes"
        parts.append(f"{distribution} {', '.join(map(str, sizes)) or 'none'} ({count})")
    return f"{TITLES[data]}, examples per class averaged over: {'; '.join(parts)}."


def _texts(cell: PaperCell, table: PublishedTable) -> list[str]:
    """Our number, the paper's, and the difference."""
    metric = table.printed_metric
    if cell.ours is not None:
        ours = written_mean(cell.ours, metric)
    else:
        ours = f"{len(cell.sizes)} of {len(cell.column_sizes)} sizes" if cell.sizes else "no runs"
    paper = "" if cell.paper is None else metric.written(cell.paper)
    difference = cell.difference
    return [ours, paper, "" if difference is None else metric.written(difference, sign="+")]


def _compact(cell: PaperCell, table: PublishedTable) -> str:
    """Our number, and in brackets the paper's and the difference."""
    ours, paper, difference = _texts(cell, table)
    if not paper or cell.ours is None:
        return ours
    return f"{ours} ({paper}{', ' if difference else ''}{difference})"


def written_mean(interval: Interval | None, metric: Metric, *, sign: str = "") -> str:
    """A mean ± half the width of its interval; the mean alone if there is only one seed.

    Args:
        interval: The mean and its interval; none without runs.
        metric: How its values are written.
        sign: ``"+"`` to write the sign of a positive mean, too.

    Example:
        >>> from oddkout.metrics.catalogue import METRICS
        >>> written_mean(Interval(0.8764, 0.8664, 0.8864), METRICS["accuracy"])
        '87.6 ± 1.0'
    """
    if interval is None:
        return "no runs"
    mean = metric.written(interval.mean, sign=sign)
    half = (interval.high - interval.low) / 2
    return mean if math.isnan(half) else f"{mean} ± {metric.written(half)}"
