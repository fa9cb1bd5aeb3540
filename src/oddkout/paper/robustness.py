"""How the grid held: kills in its course, and recorded runs that were performed again."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any


def robustness(folder: Path) -> list[str]:
    """Sentences on interruptions and on repetitions, if there are lines of them."""
    sentences = []
    if events := _read(folder / "grid-kills.jsonl"):
        sentences += _interruptions(events)
    if again := _read(folder / "reproduced.jsonl"):
        sentences.append(_repetitions(again))
    return sentences


def _interruptions(events: list[dict[str, Any]]) -> list[str]:
    """How many kills the grid survived, and what was lost with machines.

    A lost machine takes the runs of its folder with it; those that were committed remain.
    """
    kills = [one for one in events if "lost" not in one]
    pairs = list(pairwise(events))
    is_kept = all(old["runs"] <= new["runs"] for old, new in pairs if "lost" not in new)
    sentences = [
        f"The grid was killed {len(kills)} times by SIGKILL and resumed: the number of stored runs "
        f"{'never fell' if is_kept else '**fell**'}, and every run has exactly one line "
        "(`results/grid-kills.jsonl`)."
    ]
    if lost := [old["runs"] - new["runs"] for old, new in pairs if "lost" in new]:
        times = "once" if len(lost) == 1 else f"{len(lost)} times"
        sentences.append(
            f"The machine was lost {times} with all files: at least {sum(lost)} runs that were not "
            "yet committed were performed again on another one. Their first time is not counted."
        )
    return sentences


def _repetitions(again: list[dict[str, Any]]) -> str:
    """How many repetitions are equal, and how far the others are from it."""
    differing = [one for one in again if not one["equal"]]
    elsewhere = [one for one in differing if not one["same_instructions"]]
    sentence = (
        f"{len(again)} recorded runs, drawn at random, were performed again "
        f"(`results/reproduced.jsonl`): {len(again) - len(differing)} have the same line to the "
        "last digit."
    )
    if unexplained := len(differing) - len(elsewhere):
        sentence += f" **With the same instruction sets, {unexplained} differ.**"
    if elsewhere:
        points, nll = (max(one[name] for one in elsewhere) for name in ("accuracy", "nll"))
        sentence += (
            f" With other instruction sets, {len(elsewhere)} differ: accuracy by at most "
            f"{100 * points:.2f} points, and NLL by {nll:.3f}."
        )
    return sentence


def _read(file: Path) -> list[dict[str, Any]]:
    """All lines of a file; none if there is no file."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.is_file() else []
