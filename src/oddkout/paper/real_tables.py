"""Real tables, each through one comparison: from the lines of ``benchmarks/compared_tables.py``."""

import json
from pathlib import Path
from typing import Any

from oddkout.paper.document import TextTable

# Columns of their own; the best of all others shares one.
_SHOWN = ("guess", "logistic", "oko", "tables")


def real_tables(folder: Path) -> TextTable | None:
    """Who wins on each table, and the NLL of the contestants; None without lines."""
    file = folder / "compared-tables.jsonl"
    if not file.is_file():
        return None
    found = [json.loads(line) for line in file.read_text().splitlines()]
    header = ["table", "rows", "classes", "lowest NLL out of fold", *(f"`{n}`" for n in _SHOWN)]
    header += ["best other", "significantly better than logistic regression"]
    return TextTable(header=header, rows=[_row(one) for one in found])


def _row(one: dict[str, Any]) -> list[str]:
    """A table as a row: NLL on the test parts, calibrated."""
    nll = {row["method"]: row["nll"] for row in one["calibrated"]}
    other = min((name for name in nll if name not in _SHOWN), key=nll.__getitem__)
    return [
        one["table"],
        str(one["rows"]),
        str(one["classes"]),
        f"`{one['winner']}`",
        *(f"{nll[name]:.3f}" for name in _SHOWN),
        f"`{other}` {nll[other]:.3f}",
        ", ".join(f"`{name}`" for name in one["better than logistic"]) or "none",
    ]
