"""Progress bars in a terminal; nothing in a pipe."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def training_progress(is_shown: bool) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """A bar with loss, rate and remaining time; call it with the rows of a learning curve.

    Args:
        is_shown: Whether this process shows the bar; with several processes only the first does.
    """
    if not sys.stderr.isatty() or not is_shown:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    text = TextColumn("loss {task.fields[loss]:.3f}  rate {task.fields[learning_rate]:.2g}")
    with _bars(BarColumn(), MofNCompleteColumn(), text, TimeRemainingColumn()) as bars:
        task = bars.add_task("", total=None, loss=float("nan"), learning_rate=0.0)

        def show(row: dict[str, Any]) -> None:
            bars.update(
                task,
                completed=row["done"],
                total=row["total"],
                loss=row["loss"],
                learning_rate=row["learning_rate"],
            )

        yield show


@contextmanager
def grid_progress() -> Iterator[Callable[[int, int, Any], None] | None]:
    """A bar for a grid; call it with the number of finished runs, the total and the last run."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

    text = TextColumn("{task.description}")
    with _bars(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), text) as bars:
        task = bars.add_task("runs")

        def show(done: int, total: int, run: Any) -> None:
            last = "" if run is None else f"{run.config.method}, seed {run.config.seed}"
            if run is not None and run.has_failed:
                last += " failed"
            bars.update(task, completed=done, total=total, description=last)

        yield show


@contextmanager
def download_progress() -> Iterator[Callable[[str, int, int], None] | None]:
    """A bar for each file; call it with the name, the downloaded bytes and the total bytes."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn

    name = TextColumn("{task.description}")
    with _bars(name, BarColumn(), DownloadColumn(), TimeRemainingColumn()) as bars:
        tasks: dict[str, Any] = {}

        def show(file: str, done: int, total: int) -> None:
            if file not in tasks:
                tasks[file] = bars.add_task(file)
            bars.update(tasks[file], completed=done, total=total or None)

        yield show


def _bars(*columns: Any) -> Any:
    from rich.console import Console
    from rich.progress import Progress

    return Progress(*columns, console=Console(stderr=True))
