"""Lines of ``results/``: what a script has tried, one after the other, each kept at once."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

FOLDER = Path(__file__).parents[1] / "results"


def read(file: Path) -> list[dict[str, Any]]:
    """All lines; none if there is no file yet."""
    return [json.loads(text) for text in file.read_text().splitlines()] if file.exists() else []


def perform_missing(
    file: Path, wanted: Iterable[dict[str, Any]], perform: Callable[..., dict[str, Any]]
) -> None:
    """Perform what has no line yet, on one thread: ``perform(**one)`` gives the line of one."""
    torch.set_num_threads(1)
    known = read(file)
    for one in wanted:
        if not any(one.items() <= line.items() for line in known):
            append(file, perform(**one))


def append(file: Path, line: dict[str, Any]) -> None:
    """Add a line to a file."""
    with file.open("a") as lines:
        lines.write(json.dumps(line) + "\n")
