"""The versions of the software, and the instruction sets, that runs were made with."""

from collections import Counter
from collections.abc import Sequence

from oddkout.comparing.run import Run
from oddkout.paper.document import TextTable


def versions_table(runs: Sequence[Run]) -> TextTable:
    """One row for each thing that has a version; with counts of runs where they differ."""
    names = sorted({name for run in runs for name in run.versions})
    rows = []
    for name in names:
        counts = Counter(run.versions.get(name, "not recorded") for run in runs)
        cell = ", ".join(
            version if len(counts) == 1 else f"{version} ({count:,} runs)"
            for version, count in sorted(counts.items())
        )
        rows.append([name, cell])
    return TextTable(header=["made with", "version"], rows=rows)
