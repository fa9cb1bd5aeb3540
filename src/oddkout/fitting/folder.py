"""The folder of a saved classifier: complete, or recognised as incomplete, whenever a save ends."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from oddkout.fitting.card import CARD
from oddkout.fitting.held_out_file import HELD_OUT
from oddkout.fitting.weights import WEIGHTS
from oddkout.models.foreign import FILE

_FILES = (CARD, WEIGHTS, HELD_OUT, FILE)
_NEW = ".saving.tmp"


@contextmanager
def new_files(folder: Path) -> Iterator[Path]:
    """Yield a folder to write the files of a classifier into; then they replace the old ones."""
    new = folder / _NEW
    shutil.rmtree(new, ignore_errors=True)  # of a killed process
    new.mkdir()
    try:
        yield new
        _replace_files(folder, new)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _replace_files(folder: Path, new: Path) -> None:
    """Replace the files of a classifier by those of another folder.

    A folder with a card is complete, and an old card must not describe new weights: the card goes
    first and comes last.
    """
    (folder / CARD).unlink(missing_ok=True)
    for name in reversed(_FILES):
        if (new / name).exists():
            (new / name).replace(folder / name)
        else:
            (folder / name).unlink(missing_ok=True)


def refuse_other_content(folder: Path) -> None:
    """Raise unless the folder is new, empty or holds a classifier, which may be replaced.

    The classifier may be incomplete: a process that saved it was killed.

    Example:
        >>> refuse_other_content(Path("no such folder"))
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"a classifier is saved in a folder, but {folder} is a file")
    if not folder.is_dir() or (folder / CARD).exists():
        return
    if any(path.name not in (*_FILES, _NEW) for path in folder.iterdir()):
        raise ValueError(f"{folder} holds files that are not a classifier; choose another folder")
