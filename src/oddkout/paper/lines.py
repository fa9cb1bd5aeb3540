"""Committed runs: one line of JSON each, one file per data set, without predictions."""

import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run
from oddkout.comparing.store import RunStore
from oddkout.data import KNOWN
from oddkout.reading import reading
from oddkout.records import checked_record

_FILES = "runs-*.jsonl"


def read_lines(folder: str | Path) -> list[Run]:
    """All committed runs of a folder, ordered by id; none if the folder does not exist."""
    runs: dict[str, Run] = {}
    for file in sorted(Path(folder).glob(_FILES)):
        with reading(file, kind="committed runs", repair="restore the file"):
            lines = file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            try:
                run = Run.from_dict(checked_record(line, dict))
            except (ValueError, RecursionError) as error:
                raise ValueError(
                    f"{file}, line {number} must be a run that this version can read ({error}); "
                    "restore the file, or remove the line to perform the run again"
                ) from None
            runs[run.config.id] = run
    return [runs[name] for name in sorted(runs)]


def merge_lines(folder: str | Path, runs: Iterable[Run]) -> list[Path]:
    """Add runs, without their predictions, to a folder of committed runs.

    Every run is stored once, sorted by id. A stored run is replaced only if it failed and the new
    one did not. Files are replaced as a whole, so a killed process leaves the old ones intact.

    Returns:
        The files that changed.
    """
    folder = Path(folder)
    known = {run.config.id: run for run in read_lines(folder)}
    touched: set[str] = set()
    for run in runs:
        old = known.get(run.config.id)
        if old is None or (old.has_failed and not run.has_failed):
            known[run.config.id] = run
            touched.add(_file_name(run))
    folder.mkdir(parents=True, exist_ok=True)
    changed = []
    for name in sorted(touched):
        lines = [_line(known[key]) for key in sorted(known) if _file_name(known[key]) == name]
        temporary = folder / f".{name}.{os.getpid()}.tmp"
        temporary.write_text("".join(f"{line}\n" for line in lines))
        temporary.replace(folder / name)
        changed.append(folder / name)
    return changed


class CommittedStore(RunStore):
    """A store of runs that includes committed ones, so that these are not performed again.

    A committed run with folds also counts as the same run without folds.

    Args:
        folder: The folder that new runs are written to.
        lines: The committed runs.
    """

    def __init__(self, folder: str | Path, lines: Iterable[Run] = ()) -> None:
        super().__init__(folder)
        whole = [run for run in lines if not run.has_failed]
        self._lines = {_without_folds(run.config): run for run in whole if run.config.folds}
        self._lines |= {run.config: run for run in whole}

    def __contains__(self, config: RunConfig) -> bool:
        return super().__contains__(config) or config in self._lines

    def read(self, config: RunConfig, *, has_predictions: bool = False) -> Run:
        """A stored run; a committed one has no predictions."""
        if super().__contains__(config):
            return super().read(config, has_predictions=has_predictions)
        return self._lines[config]

    def all_runs(self, *, has_predictions: bool = False) -> list[Run]:
        """All runs of the folder and all committed ones, each once, ordered by id."""
        runs = {run.config.id: run for run in self._lines.values()}
        if self.folder.is_dir():
            for run in self.runs(has_predictions=has_predictions):
                runs[run.config.id] = run
        return [runs[name] for name in sorted(runs)]


def _without_folds(config: RunConfig) -> RunConfig:
    """The config of the same run without folds."""
    return replace(config, folds=0)


def _line(run: Run) -> str:
    """A run as one line of JSON; the same run gives the same bytes."""
    return json.dumps(run.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _file_name(run: Run) -> str:
    """The file of a run; all data sets of users share one file."""
    return f"runs-{run.config.data if run.config.data in KNOWN else 'other'}.jsonl"
