"""One process at a time writes the runs of a folder, so that none is performed twice."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = ".writer"


@contextmanager
def only_writer(folder: str | Path) -> Iterator[None]:
    """Hold a folder of runs; raise if another process holds it.

    The lock belongs to the process and ends with it, however it ends. Workers do not inherit it.
    On systems without such locks nothing is checked.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("a") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(
                f"one process at a time may perform the runs of {folder}, but another one does; "
                "wait for it, or choose another folder"
            ) from None
        yield
