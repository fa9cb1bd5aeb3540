"""Runs on disk, each complete or absent, so that a killed grid can resume."""

import json
import os
import shutil
import threading
import time
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import numpy as np

from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import ARRAYS, Run

_RUN, _PREDICTIONS = "run.json", "predictions.npz"

# NumPy reads the head of an array with Python's parser, which in Python 3.11 two threads must not
# do at once: now and then one of them gets a SystemError.
_ONE_READER = threading.Lock()

# A temporary folder of this age belongs to a process that was killed.
_OLD_SECONDS = 3600
_ATTEMPTS = 5


class RunStore:
    """A folder of runs: ``<id>/run.json`` and ``<id>/predictions.npz``.

    Args:
        folder: The folder; made when the first run is written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if self.folder.is_file():
            raise ValueError(f"runs are stored in a folder, but {folder} is a file")

    def __contains__(self, config: RunConfig) -> bool:
        return (self.folder / config.id / _RUN).is_file()

    def write(self, run: Run) -> Path:
        """Write a run under a temporary name, then rename it; an existing run stays.

        Args:
            run: The run, with its predictions unless it failed.
        """
        place = self.folder / run.config.id
        text = json.dumps(run.to_dict(), indent=1, allow_nan=False)
        temporary = self._temporary(run)
        temporary.mkdir(parents=True)
        try:
            arrays = {name: getattr(run, name) for name in ARRAYS}
            if present := {name: a for name, a in arrays.items() if a is not None}:
                with (temporary / _PREDICTIONS).open("wb") as stream:
                    np.savez_compressed(stream, **present)
                    _on_disk(stream.fileno())
            with (temporary / _RUN).open("w") as stream:
                stream.write(text)
                stream.flush()
                _on_disk(stream.fileno())
            temporary.rename(place)
        except OSError as error:
            if not place.exists():
                raise
            if not (place / _RUN).is_file():
                raise FileExistsError(
                    f"{place} is where a run belongs, but holds none ({error}); remove it"
                ) from None
        finally:  # also when somebody else has written the same run meanwhile
            shutil.rmtree(temporary, ignore_errors=True)
        return place

    def read(self, config: RunConfig, *, has_predictions: bool = False) -> Run:
        """A run that is there.

        Args:
            config: Its config.
            has_predictions: Whether to read its predictions, too.
        """
        return self.read_id(config.id, has_predictions=has_predictions)

    def read_id(self, name: str, *, has_predictions: bool = False) -> Run:
        """A run by its id.

        Args:
            name: The id.
            has_predictions: Whether to read its predictions, too.
        """
        folder = self.folder / name
        if not (folder / _RUN).is_file():
            raise FileNotFoundError(
                f"run {name} is not in {self.folder}; run oddkout compare again to perform it"
            )
        return _read(folder, has_predictions=has_predictions)

    def runs(self, *, has_predictions: bool = False) -> list[Run]:
        """All runs, in the order of their ids.

        Args:
            has_predictions: Whether to read their predictions, too.
        """
        if not self.folder.is_dir():
            raise FileNotFoundError(f"there is no folder of runs {self.folder}")
        places = sorted(path.parent for path in self.folder.glob(f"*/{_RUN}"))
        found = [
            _read_if_there(place, has_predictions=has_predictions)
            for place in places
            if not place.name.startswith(".")
        ]
        return [run for run in found if run is not None]

    def missing(self, configs: Iterable[RunConfig]) -> list[RunConfig]:
        """Those of the configs that are not here yet, each once.

        Args:
            configs: The configs of a grid.
        """
        return [config for config in dict.fromkeys(configs) if config not in self]

    def forget(self, run: Run) -> None:
        """Remove a run, so that it is performed again.

        Args:
            run: The run, say one that failed.
        """
        # Under another name first: killed on the way, half a run must not be left in its place.
        temporary = self._temporary(run)
        (self.folder / run.config.id).rename(temporary)
        shutil.rmtree(temporary)

    def forget_failed(self, configs: Iterable[RunConfig]) -> None:
        """Remove those of the configs that failed, so that they are performed again.

        Args:
            configs: The configs of a grid.
        """
        for config in dict.fromkeys(configs):
            if config in self and (run := self.read(config)).has_failed:
                self.forget(run)

    def sweep(self) -> None:
        """Remove what processes that were killed have left half-written, an hour after."""
        for temporary in self.folder.glob(".*.tmp"):
            with suppress(FileNotFoundError):
                if time.time() - temporary.stat().st_mtime > _OLD_SECONDS:
                    shutil.rmtree(temporary, ignore_errors=True)

    def _temporary(self, run: Run) -> Path:
        """A name that nobody else uses and no reader looks at."""
        return self.folder / f".{run.config.id}.{uuid4().hex}.tmp"


def _on_disk(file: int) -> None:
    """Wait until a file would survive a power failure; a rename must not come before its content.

    Some network disks cannot say; they are trusted.
    """
    with suppress(OSError):
        os.fsync(file)


def _read_if_there(place: Path, *, has_predictions: bool) -> Run | None:
    """Read one run; none if it has been forgotten since.

    One that was forgotten and written again while it was read is read again.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return _read(place, has_predictions=has_predictions)
        except (FileNotFoundError, ValueError):
            if not place.is_dir():
                return None
            time.sleep(0.01)
    return _read(place, has_predictions=has_predictions)


def _read(place: Path, *, has_predictions: bool) -> Run:
    """Read one run, or say which file is not one."""
    try:
        values = json.loads((place / _RUN).read_text())
        if (found := values.get("id")) != place.name:
            raise ValueError(f"its id is {found}, not the name of its folder")
        run = Run.from_dict(values)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{place / _RUN} is no run that this version reads ({error}); remove the folder to "
            "perform it again"
        ) from None
    if has_predictions and not run.has_failed:
        try:
            with (
                _ONE_READER,
                (place / _PREDICTIONS).open("rb") as stream,
                np.load(stream, allow_pickle=False) as arrays,
            ):
                run.logits, run.labels = arrays["logits"], arrays["labels"]
                if "fold_logits" in arrays:
                    run.fold_logits, run.fold_labels = arrays["fold_logits"], arrays["fold_labels"]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"{place / _PREDICTIONS} does not hold the predictions of its run ({error}); "
                "remove the folder to perform it again"
            ) from None
    return run
