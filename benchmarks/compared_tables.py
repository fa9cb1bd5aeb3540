"""Eight real tables, each through one call of ``oddkout.compare``, with the verdict.

``python benchmarks/compared_tables.py`` performs what is missing in
``results/compared-tables.jsonl`` and ``--page`` writes ``docs/compared-tables.md`` from these
lines alone. Set OMP_NUM_THREADS=1.
"""

import argparse
import tempfile
import time

import lines
import numpy as np
from simulated_comparisons import here
from table_data import read

import oddkout as oko
from oddkout.comparing.verdict import SIMPLE, better_than

FILE = lines.FOLDER / "compared-tables.jsonl"
PAGE = lines.FOLDER.parent / "docs" / "compared-tables.md"
TABLES = ("newthyroid", "ecoli", "glass", "wine", "pima", "vowel", "yeast", "contraceptive")
# Our default of compare and train, and our best for tables.
METHODS = ("oko", "tables")
CONTESTANTS = ("forest", "boosting", "svm", "mlp", "catboost")
SEEDS = 5
METRICS = {"accuracy": "accuracy", "nll": "NLL", "ece": "ECE"}
LEAST = 6  # rows of a class; smaller ones are left out


def compared_line(table):
    """One comparison, all contestants at once."""
    frame, labels = read(table)
    names, sizes = np.unique(labels, return_counts=True)
    is_kept = np.isin(labels, names[sizes >= LEAST])
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        comparison = oko.compare(
            (frame[is_kept], labels[is_kept]), methods=METHODS, contestants=CONTESTANTS,
            seeds=SEEDS, out=folder, executor=here,
        )  # fmt: skip
    return {
        "table": table,
        "rows": int(is_kept.sum()),
        "classes": len(set(labels[is_kept])),
        "verdict": comparison.verdict,
        "winner": comparison.winner,
        "better than logistic": better_than(comparison, SIMPLE),
        "tied": comparison.tied("nll", is_tempered=True),
        "failed": comparison.failed,
        "calibrated": comparison.table.rows,
        "folds": {
            name: sum(run.fold_metrics["nll"] for run in runs) / len(runs)
            for name, runs in comparison.by_method.items()
            if name in comparison.methods
        },
        "seconds": time.process_time() - began,
    }


def page():
    """The page ``docs/compared-tables.md``."""
    known = {one["table"]: one for one in lines.read(FILE)}
    text = [_HEAD]
    for table in TABLES:
        if table not in known:
            text += [f"## {table}", "", "Not yet performed.", ""]
            continue
        one = known[table]
        text += [f"## {table}", "", f"{one['rows']} rows, {one['classes']} classes.", ""]
        text += [f"> {sentence}" for sentence in one["verdict"].splitlines()]
        text += ["", f"| contestant | {' | '.join(METRICS.values())} | NLL out of fold |"]
        text.append("| --- |" + " ---: |" * (len(METRICS) + 1))
        for row in one["calibrated"]:
            cells = [_cell(row, metric) for metric in METRICS]
            name = row["method"]
            mark = f"**{name}**" if name == one["winner"] else name
            text.append(f"| {mark} | {' | '.join(cells)} | {one['folds'][name]:.3f} |")
        text += [f"\n{name} failed: {reason}" for name, reason in one["failed"].items()]
        text.append("")
    return "\n".join(text)


_HEAD = """# Eight real tables, compared

<!-- Written by: python benchmarks/compared_tables.py --page -->

Each table through one call: `oko.compare((frame, labels), methods=["oko", "tables"],
contestants=["forest", "boosting", "svm", "mlp", "catboost"], seeds=5)`. Every contestant gets the
same splits, folds and calibration. `oko` is the default of `train`, `tables` that of
`OddKOutClassifier`. The winner, in bold, has the lowest NLL out of fold; the test part (a fifth,
five splits) only reports. Intervals are 95 %. The stack `tables` was developed on these tables,
which favours it; [small tables](small-tables.md) has others. Classes with fewer than six rows are
left out. From `results/compared-tables.jsonl`.
"""


def _cell(row, metric):
    scale, digits = (100, 1) if metric == "accuracy" else (1, 3)
    mean, low, high = (scale * row[name] for name in (metric, f"{metric}_low", f"{metric}_high"))
    return f"{mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", action="store_true", help="write the page, fit nothing")
    if parser.parse_args().page:
        PAGE.write_text(page())
    else:
        lines.perform_missing(FILE, [{"table": table} for table in TABLES], compared_line)
