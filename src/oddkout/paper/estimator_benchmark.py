"""The benchmark of the estimator against scikit-learn, from the lines of ``tables.jsonl``."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from statistics import fmean
from typing import Any

from oddkout.comparing.statistics import t_interval
from oddkout.metrics.catalogue import METRICS
from oddkout.paper.document import Document, Heading, TextTable
from oddkout.paper.tables import written_mean

# All as shares with three decimals, so that the columns of one table can be compared.
_COLUMNS = [
    replace(METRICS[name], scale=1, unit="", digits=3)
    for name in ("accuracy", "balanced_accuracy", "nll", "ece")
]
_NULL = "ece of a calibrated model"


def estimator_benchmark(lines: Iterable[Mapping[str, Any]]) -> Document:
    """One table of data sets and models; each number is a mean over folds.

    Args:
        lines: One per data set, model and fold, with its ``metrics``; other lines are ignored.
    """
    groups: dict[tuple[str, str], dict[int, Mapping[str, float]]] = {}
    for line in lines:
        if {"data", "model", "fold", "metrics"} <= line.keys():
            groups.setdefault((line["data"], line["model"]), {})[line["fold"]] = line["metrics"]
    document = Document()
    document.add(Heading("Tables: the estimator against scikit-learn"))
    if not groups:
        document.add("No results yet.")
        return document
    rows = []
    for (data, model), folds in groups.items():
        row = [data, model, str(len(folds))]
        for metric in _COLUMNS:
            values = [
                measured[metric.name]
                for _, measured in sorted(folds.items())
                if metric.name in measured
            ]
            text = written_mean(t_interval(values), metric) if values else ""
            nulls = [measured[_NULL] for measured in folds.values() if _NULL in measured]
            if metric.name == "ece" and nulls:
                text += f" ({metric.written(sum(nulls) / len(nulls))})"
            row.append(text)
        rows.append(row)
    document.add(
        "Means over folds ± half the width of their 95 % confidence interval. Training parts of "
        "the folds overlap, so the intervals are somewhat too narrow. In brackets: the ECE "
        "expected of a perfectly calibrated model. "
        f"{_wins(groups)}Written by `benchmarks/tables.py`.",
        TextTable(
            header=["data", "model", "folds", *(metric.head for metric in _COLUMNS)], rows=rows
        ),
    )
    return document


def _wins(groups: Mapping[tuple[str, str], Mapping[int, Mapping[str, float]]]) -> str:
    """On how many data sets OKO has a lower mean NLL than scikit-learn's network, in words."""
    means = {
        key: fmean(measured["nll"] for measured in folds.values())
        for key, folds in groups.items()
        if all("nll" in measured for measured in folds.values())
    }
    both = [data for data, model in means if model == "OddKOut" and (data, "MLP") in means]
    if not both:
        return ""
    won = sum(means[data, "OddKOut"] < means[data, "MLP"] for data in both)
    return f"OddKOut has a lower mean NLL than MLP on {won} of {len(both)} data sets. "
