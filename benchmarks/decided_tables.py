"""Decisions on three real tables, each through one call of ``oddkout.compare``.

``python benchmarks/decided_tables.py`` performs what is missing in
``results/decided-tables.jsonl``; RESULTS.md shows it. Set OMP_NUM_THREADS=1.
"""

import tempfile
import time

import lines
import numpy as np
from compared_tables import LEAST
from decided import share_at_risk, size_at_coverage
from scipy.special import softmax
from simulated_comparisons import here
from table_data import read

import oddkout as oko
from oddkout.comparing.deciding import decision_record

FILE = lines.FOLDER / "decided-tables.jsonl"
TABLES = ("yeast", "contraceptive", "car")
METHODS = ("oko", "oko+la", "vanilla+ls+la", "tables")
CONTESTANTS = ("forest", "boosting")
# Columns of car have levels such as 2, 3, 4 and 5more.
LEVELS = {"car": ["Doors", "Persons"]}
SEEDS = 5
RISK = 0.05


def decided_line(table):
    """One comparison, and what the decisions of each contestant are worth on its test parts."""
    frame, labels = read(table)
    names, sizes = np.unique(labels, return_counts=True)
    is_kept = np.isin(labels, names[sizes >= LEAST])
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        comparison = oko.compare(
            (frame[is_kept], labels[is_kept]), methods=METHODS, contestants=CONTESTANTS,
            seeds=SEEDS, out=folder, executor=here, categorical=LEVELS.get(table, []),
        )  # fmt: skip
    return {
        "table": table,
        "rows": int(is_kept.sum()),
        "sizes": sorted(map(int, sizes[sizes >= LEAST]), reverse=True),
        "failed": comparison.failed,
        "contestants": {name: measures(comparison, name) for name in comparison.methods},
        "seconds": time.process_time() - began,
    }


def measures(comparison, name):
    """Quality, promises and decisions of one contestant."""
    record = decision_record(comparison, name)
    probs = [
        (softmax(run.test_logits(is_tempered=True), axis=1), run.labels)
        for run in comparison.by_method[name]
    ]
    return {
        metric: comparison.mean(name, metric, is_tempered=True).to_dict()
        for metric in ("accuracy", "nll", "ece")
    } | {
        "test": record["test"],
        "classes": record["classes"],
        "wrong answers": record["wrong_answers"],
        "best": {
            "size": float(np.mean([size_at_coverage(*one) for one in probs])),
            "answered": float(np.mean([share_at_risk(*one, RISK) for one in probs])),
        },
    }


if __name__ == "__main__":
    lines.perform_missing(FILE, [{"table": table} for table in TABLES], decided_line)
