"""How the grid held: kills in its course, and recorded runs that were performed again."""

import json
from pathlib import Path
from typing import Any


def robustness(folder: Path) -> list[str]:
    """One sentence on the kills and one on the repetitions, if there are lines of them."""
    sentences = []
    if kills := _read(folder / "grid-kills.jsonl"):
        counts = [one["runs"] for one in kills]
        is_kept = counts == sorted(counts)
        found = "never fell" if is_kept else "**fell**"
        sentences.append(
            f"The grid was killed {len(kills)} times by SIGKILL and resumed: the number of stored "
            f"runs {found}, and every run has exactly one line (`results/grid-kills.jsonl`)."
        )
    if again := _read(folder / "reproduced.jsonl"):
        equal = sum(one["equal"] for one in again)
        sentences.append(
            f"{len(again)} recorded runs, drawn at random, were performed again: {equal} have the "
            "same line to the last digit (`results/reproduced.jsonl`)."
        )
    return sentences


def _read(file: Path) -> list[dict[str, Any]]:
    """All lines of a file; none if there is no file."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []
