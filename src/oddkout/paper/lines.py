"""Committed runs: one line of JSON each, one file per kind and data set, without predictions.

Kinds of runs: ``"paper"``, those of the protocol; ``"choices"``, those that made its choices;
``"runs"``, those of version 0.1.0.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run
from oddkout.comparing.store import RunStore
from oddkout.data import KNOWN
from oddkout.reading import reading
from oddkout.records import checked_record

LinesKind = Literal["paper", "choices", "runs"]

# Significant digits of the results in a line.
_DIGITS = 8

# What a line leaves out: it can be computed, or nobody reads it.
_LEFT_OUT = ("log", "classes", "weights")

# A config without these fields is one of version 0.1.0.
_ALWAYS = ("data", "members", "schedule", "averaging", "calibrate")


def read_lines(folder: str | Path, *, kind: LinesKind = "paper") -> list[Run]:
    """All committed runs of one kind, ordered by id; none if the folder does not exist."""
    runs: dict[str, Run] = {}
    for file in sorted(Path(folder).glob(f"{kind}-*.jsonl")):
        with reading(file, kind="committed runs", repair="restore the file"):
            lines = file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            try:
                run = _run(checked_record(line, dict))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise ValueError(
                    f"{file}, line {number} must be a run that this version can read ({error}); "
                    "restore the file, or remove the line to perform the run again"
                ) from None
            if run.config.id in runs:
                raise ValueError(
                    f"{file}, line {number} must be the only line of run {run.config.id}, but it "
                    "has another one; remove one of them"
                )
            runs[run.config.id] = run
    return [runs[name] for name in sorted(runs)]


def merge_lines(
    folder: str | Path, runs: Iterable[Run], *, kind: LinesKind = "paper"
) -> list[Path]:
    """Add runs, without their predictions, to a folder of committed runs.

    Every run is stored once, sorted by id. A stored run is replaced only if it failed and the new
    one did not. Files are replaced as a whole, so a killed process leaves the old ones intact.

    Returns:
        The files that changed.
    """
    folder = Path(folder)
    known = {run.config.id: run for run in read_lines(folder, kind=kind)}
    touched: set[str] = set()
    for run in runs:
        old = known.get(run.config.id)
        if old is None or (old.has_failed and not run.has_failed):
            known[run.config.id] = run
            touched.add(_file_name(run, kind))
    folder.mkdir(parents=True, exist_ok=True)
    changed = []
    for name in sorted(touched):
        lines = [
            as_line(known[key]) for key in sorted(known) if _file_name(known[key], kind) == name
        ]
        temporary = folder / f".{name}.{os.getpid()}.tmp"
        temporary.write_text("".join(f"{line}\n" for line in lines))
        temporary.replace(folder / name)
        changed.append(folder / name)
    return changed


class CommittedStore(RunStore):
    """A store of runs that includes committed ones, so that these are not performed again.

    Args:
        folder: The folder that new runs are written to.
        lines: The committed runs.
    """

    def __init__(self, folder: str | Path, lines: Iterable[Run] = ()) -> None:
        super().__init__(folder)
        self._lines = {run.config: run for run in lines if not run.has_failed}

    def __contains__(self, config: RunConfig) -> bool:
        return super().__contains__(config) or config in self._lines

    def read(self, config: RunConfig, *, has_predictions: bool = False) -> Run:
        """A stored run; a committed one has no predictions."""
        if super().__contains__(config):
            return super().read(config, has_predictions=has_predictions)
        return self._lines[config]

    def all_runs(self) -> list[Run]:
        """All runs of the folder and all committed ones, each once, ordered by id."""
        runs = {run.config.id: run for run in self._lines.values()}
        if self.folder.is_dir():
            for run in self.runs():
                runs[run.config.id] = run
        return [runs[name] for name in sorted(runs)]


def as_line(run: Run) -> str:
    """A run as one line of JSON; the same run gives the same bytes."""
    values = run.to_dict()
    values = {name: value for name, value in values.items() if name not in _LEFT_OUT}
    if run.tempered == run.as_trained:  # without folds
        del values["tempered"]
    values = _rounded(values)
    values["config"] = {  # whose numbers are not rounded: the id depends on them
        name: value
        for name, value in run.config.to_dict().items()
        if name in _ALWAYS or value != getattr(RunConfig, name, None)
    }
    return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _run(values: dict[str, Any]) -> Run:
    """The run of a line."""
    data = values["config"]["data"]
    values.setdefault("classes", list(KNOWN[data].classes) if data in KNOWN else [])
    values.setdefault("tempered", values.get("as_trained", {}))
    return Run.from_dict(values)


def _rounded(value: Any) -> Any:
    """Plain values, with numbers of few digits."""
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(part) for part in value]
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _file_name(run: Run, kind: LinesKind) -> str:
    """The file of a run; all data sets of users share one file."""
    return f"{kind}-{run.config.data if run.config.data in KNOWN else 'other'}.jsonl"
