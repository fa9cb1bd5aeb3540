"""The section on tables: the estimator against scikit-learn, from lines of ``tables.jsonl``."""

from collections.abc import Iterable, Mapping
from typing import Any

from oddkout.comparing.comparison import t_interval
from oddkout.paper.document import Document, Heading, TextTable
from oddkout.paper.tables import shown

_METRICS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "nll": "NLL",
    "ece": "ECE",
}
_NULL = "ece of a calibrated model"


def estimator_benchmark(lines: Iterable[Mapping[str, Any]]) -> Document:
    """One table of data sets and models, each number the mean over its folds.

    Args:
        lines: One line for each data set, model and fold, with its ``metrics``; others are left
            out.
    """
    groups: dict[tuple[str, str], dict[int, Mapping[str, float]]] = {}
    for line in lines:
        if {"data", "model", "fold", "metrics"} <= line.keys():
            groups.setdefault((line["data"], line["model"]), {})[line["fold"]] = line["metrics"]
    document = Document()
    document.add(Heading("Tables: the estimator against scikit-learn"))
    if not groups:
        document.add("No lines yet.")
        return document
    rows = []
    for (data, model), folds in groups.items():
        row = [data, model, str(len(folds))]
        for metric in _METRICS:
            values = [found[metric] for _, found in sorted(folds.items()) if metric in found]
            text = shown(t_interval(values)) if values else ""
            nulls = [found[_NULL] for found in folds.values() if _NULL in found]
            if metric == "ece" and nulls:
                text += f" ({sum(nulls) / len(nulls):.3f})"
            row.append(text)
        rows.append(row)
    document.add(
        "Means over folds ± half of their 95 % interval (training parts overlap, so that it is "
        "somewhat too narrow); in brackets the ECE that a perfectly calibrated model would score. "
        "Written by `benchmarks/tables.py`.",
        TextTable(header=["data", "model", "folds", *_METRICS.values()], rows=rows),
    )
    return document
