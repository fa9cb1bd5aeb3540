"""Runs as lines of JSON, a file a data set: what is committed of them, without predictions."""

import json
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run
from oddkout.comparing.store import RunStore
from oddkout.data import KNOWN

_FILES = "runs-*.jsonl"


def read_lines(folder: str | Path) -> list[Run]:
    """All runs of a folder of lines, in the order of their ids; none if there is no folder.

    Args:
        folder: The folder.
    """
    found: dict[str, Run] = {}
    for file in sorted(Path(folder).glob(_FILES)):
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            try:
                run = Run.from_dict(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(
                    f"{file}, line {number} is no run that this version reads ({error}); restore "
                    "the file or remove the line to perform its run again"
                ) from None
            found[run.config.id] = run
    return [found[name] for name in sorted(found)]


def merge_lines(folder: str | Path, runs: Iterable[Run]) -> list[Path]:
    """Add runs to a folder of lines, each once, sorted; return the files that changed.

    A run that is there stays, unless it failed and the new one did not. Files are replaced as a
    whole, so that a killed process leaves the old ones.

    Args:
        folder: The folder; made if there is none.
        runs: The runs; their predictions are left out.
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
    """A folder of runs that also knows committed lines: what they hold is not performed again.

    A run that was made with folds answers for the same without, which is a part of it.

    Args:
        folder: The folder, where new runs are written.
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
        """A run that is there; one from a line has no predictions.

        Args:
            config: Its config.
            has_predictions: Whether to read its predictions, too, if there are any.
        """
        if super().__contains__(config):
            return super().read(config, has_predictions=has_predictions)
        return self._lines[config]

    def all_runs(self, *, has_predictions: bool = False) -> list[Run]:
        """The runs of the folder and of the lines, each once, in the order of their ids.

        Args:
            has_predictions: Whether to read the predictions of those that have some.
        """
        found = {run.config.id: run for run in self._lines.values()}
        if self.folder.is_dir():
            for run in self.runs(has_predictions=has_predictions):
                found[run.config.id] = run
        return [found[name] for name in sorted(found)]


def _without_folds(config: RunConfig) -> RunConfig:
    """The config of the same run without folds."""
    return replace(config, folds=0)


def _line(run: Run) -> str:
    """A run in one line, the same bytes for the same run."""
    return json.dumps(run.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _file_name(run: Run) -> str:
    """The file of a run; data of one's own share one."""
    return f"runs-{run.config.data if run.config.data in KNOWN else 'other'}.jsonl"
