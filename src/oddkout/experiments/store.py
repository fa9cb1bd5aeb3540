"""Runs on disk, each whole or absent: a grid that was killed goes on where it stopped."""

import json
import os
import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from oddkout.experiments.config import RunConfig
from oddkout.experiments.run import Run

_RUN, _PREDICTIONS = "run.json", "predictions.npz"


class RunStore:
    """A folder of runs: ``<id>/run.json`` and ``<id>/predictions.npz``.

    Args:
        folder: The folder; made when the first run is written.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def __contains__(self, config: RunConfig) -> bool:
        return (self.folder / config.id / _RUN).is_file()

    def write(self, run: Run) -> Path:
        """Put a run in its place, under a temporary name first; one that is there stays.

        Args:
            run: The run, with its predictions unless it failed.
        """
        place = self.folder / run.config.id
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / f".{run.config.id}.{os.getpid()}.tmp"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        if run.logits is not None and run.labels is not None:
            np.savez_compressed(temporary / _PREDICTIONS, logits=run.logits, labels=run.labels)
        text = json.dumps(run.to_dict(), indent=1, allow_nan=False)
        (temporary / _RUN).write_text(text)
        try:
            temporary.rename(place)
        except OSError:  # somebody else has written the same run meanwhile
            shutil.rmtree(temporary, ignore_errors=True)
            if not (place / _RUN).is_file():
                raise
        return place

    def read(self, config: RunConfig, *, has_predictions: bool = False) -> Run:
        """A run that is there.

        Args:
            config: Its config.
            has_predictions: Whether to read its predictions, too.
        """
        return _read(self.folder / config.id, has_predictions=has_predictions)

    def runs(self, *, has_predictions: bool = False) -> list[Run]:
        """All runs, in the order of their ids.

        Args:
            has_predictions: Whether to read their predictions, too.
        """
        if not self.folder.is_dir():
            raise FileNotFoundError(f"there is no folder of runs {self.folder}")
        places = sorted(path.parent for path in self.folder.glob(f"*/{_RUN}"))
        found = []
        for place in places:
            if place.name.startswith("."):
                continue
            try:
                found.append(_read(place, has_predictions=has_predictions))
            except (FileNotFoundError, ValueError):
                if place.is_dir():  # else somebody has removed it meanwhile
                    raise
        return found

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
        # Out of sight first: whoever reads meanwhile sees it whole or not at all.
        aside = self.folder / f".{run.config.id}.{os.getpid()}.forgotten"
        (self.folder / run.config.id).rename(aside)
        shutil.rmtree(aside)


def _read(place: Path, *, has_predictions: bool) -> Run:
    """Read one run, or say which file is not one."""
    try:
        run = Run.from_dict(json.loads((place / _RUN).read_text()))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{place / _RUN} is no run that this version reads ({error}); remove the folder to "
            "perform it again"
        ) from None
    if has_predictions and not run.has_failed:
        try:
            with np.load(place / _PREDICTIONS, allow_pickle=False) as arrays:
                run.logits, run.labels = arrays["logits"], arrays["labels"]
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"{place / _PREDICTIONS} does not hold the predictions of its run ({error}); "
                "remove the folder to perform it again"
            ) from None
    return run
