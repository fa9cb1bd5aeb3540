"""Runs on disk: each is complete or absent, so that a killed grid can resume."""

import json
import os
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import numpy as np

from oddkout.checks import Number
from oddkout.comparing.config import CHOSEN, RunConfig, open_setting
from oddkout.comparing.run import ARRAYS, Run, checked_predictions
from oddkout.data.npz import read_arrays
from oddkout.reading import reading
from oddkout.records import MOST_BYTES, checked_record

_RUN, _PREDICTIONS = "run.json", "predictions.npz"

_KIND, _REPAIR = "a run that this version knows", "remove the folder to perform it again"

# Older temporary folders belong to killed processes.
_OLD_SECONDS = 3600
_ATTEMPTS = 5


class RunStore:
    """A folder of runs: ``<id>/run.json`` and ``<id>/predictions.npz``.

    Args:
        folder: The folder; created when the first run is written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if self.folder.is_file():
            raise ValueError(f"runs are stored in a folder, but {folder} is a file")

    def __contains__(self, config: RunConfig) -> bool:
        return (self.folder / config.id / _RUN).is_file()

    def write(self, run: Run) -> Path:
        """Write a run under a temporary name, then rename it. An existing run is kept.

        Args:
            run: The run; with its predictions, unless it failed.
        """
        path = self.folder / run.config.id
        text = json.dumps(run.to_dict(), indent=1, allow_nan=False)
        temporary = self._temporary(run)
        temporary.mkdir(parents=True)
        try:
            arrays = {name: getattr(run, name) for name in ARRAYS}
            if _are_equal(run.calibrated_logits, run.logits):  # stored once
                del arrays["calibrated_logits"]
            if present := {name: a for name, a in arrays.items() if a is not None}:
                with (temporary / _PREDICTIONS).open("wb") as stream:
                    np.savez_compressed(stream, **present)
                    _on_disk(stream.fileno())
            with (temporary / _RUN).open("w") as stream:
                stream.write(text)
                stream.flush()
                _on_disk(stream.fileno())
            temporary.rename(path)
        except OSError as error:
            if not path.exists():
                raise
            if not (path / _RUN).is_file():
                raise FileExistsError(
                    f"a run cannot be written to {path}, which holds something else ({error}); "
                    "remove it"
                ) from None
        finally:  # also if another process has written the same run in the meantime
            shutil.rmtree(temporary, ignore_errors=True)
        return path

    def read(self, config: RunConfig, *, has_predictions: bool = False) -> Run:
        """Read the run of a config.

        Args:
            has_predictions: Whether to read its predictions, too.
        """
        return self.read_id(config.id, has_predictions=has_predictions)

    def read_id(self, name: str, *, has_predictions: bool = False) -> Run:
        """Read a run by its id.

        Args:
            has_predictions: Whether to read its predictions, too.
        """
        folder = self.folder / name
        if not (folder / _RUN).exists():
            raise FileNotFoundError(
                f"run {name} is not in {self.folder}; run oddkout compare again to perform it"
            )
        return _read(folder, has_predictions=has_predictions)

    def has_predictions(self, config: RunConfig) -> bool:
        """Whether the folder holds the predictions of a run."""
        return (self.folder / config.id / _PREDICTIONS).is_file()

    def runs(self, *, has_predictions: bool = False) -> list[Run]:
        """Read all runs, sorted by id.

        Args:
            has_predictions: Whether to read their predictions, too.
        """
        if not self.folder.is_dir():
            raise FileNotFoundError(f"there is no folder of runs {self.folder}")
        folders = sorted(path.parent for path in self.folder.glob(f"*/{_RUN}"))
        runs = [
            _read_if_there(folder, has_predictions=has_predictions)
            for folder in folders
            if not folder.name.startswith(".")
        ]
        return [run for run in runs if run is not None]

    def missing(self, configs: Iterable[RunConfig]) -> list[RunConfig]:
        """The configs without a stored run, without duplicates."""
        return [config for config in dict.fromkeys(configs) if config not in self]

    def forget(self, run: Run) -> None:
        """Remove a run, so that it will be performed again."""
        # Rename it first: if this process is killed, no half-deleted run must remain.
        temporary = self._temporary(run)
        (self.folder / run.config.id).rename(temporary)
        shutil.rmtree(temporary)

    def forget_failed(self, configs: Iterable[RunConfig]) -> None:
        """Remove the failed runs of these configs, so that they will be performed again.

        The fields that a comparison chooses after the learning rate may differ.
        """
        wanted = {_identity(config) for config in configs}
        for run in self.runs() if self.folder.is_dir() else []:
            if run.has_failed and _identity(run.config) in wanted:
                self.forget(run)

    def sweep(self) -> None:
        """Remove half-written runs and files of killed processes, if they are an hour old.

        Those from the future are removed, too: the clock was set back since.
        """
        for temporary in self.folder.glob(".*.tmp*"):
            with suppress(FileNotFoundError):
                if abs(time.time() - temporary.stat().st_mtime) <= _OLD_SECONDS:
                    continue
                if temporary.is_dir():
                    shutil.rmtree(temporary, ignore_errors=True)
                else:
                    temporary.unlink()

    def _temporary(self, run: Run) -> Path:
        """A unique path that readers ignore."""
        return self.folder / f".{run.config.id}.{uuid4().hex}.tmp"


def _identity(config: RunConfig) -> tuple[RunConfig, str, Number, int]:
    """What failed runs are recognised by: everything except what a comparison chooses."""
    opened = open_setting(config, chosen=CHOSEN)
    if config.fingerprint:  # the same data may have moved
        opened = replace(opened, data="", test=None)
    return opened, config.method, config.learning_rate, config.seed


def _are_equal(first: np.ndarray | None, second: np.ndarray | None) -> bool:
    """Whether there are two arrays of the same numbers."""
    return first is not None and second is not None and np.array_equal(first, second)


def _on_disk(file: int) -> None:
    """Wait until a file would survive a power failure: its content must precede its renaming.

    Some network file systems do not support this; errors are ignored.
    """
    with suppress(OSError):
        os.fsync(file)


def _read_if_there(folder: Path, *, has_predictions: bool) -> Run | None:
    """Read a run; None if it has been removed in the meantime.

    A run may be removed and written again while it is being read; then reading is repeated.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return _read(folder, has_predictions=has_predictions)
        except (FileNotFoundError, ValueError):
            if not folder.is_dir():
                return None
            time.sleep(0.01)
    return _read(folder, has_predictions=has_predictions)


def _read(folder: Path, *, has_predictions: bool) -> Run:
    """Read a run; raise if one of its files is damaged, naming the file."""
    path = folder / _RUN
    with reading(path, kind=_KIND, repair=_REPAIR, most_bytes=MOST_BYTES):
        values = checked_record(path.read_text(encoding="utf-8"), dict)
        if (name := values.get("id")) != folder.name:
            raise ValueError(f"its id is {name}, not the name of its folder")
        run = Run.from_dict(values)
        if run.fold_metrics and run.fold_metrics.get("nll") is None:
            raise ValueError("out-of-fold metrics must hold the NLL, by which runs are chosen")
    if has_predictions and not run.has_failed:
        path = folder / _PREDICTIONS
        with reading(path, kind="the predictions of its run", repair=_REPAIR):
            for name, array in checked_predictions(read_arrays(path, repair=_REPAIR), run).items():
                setattr(run, name, array)
    return run
