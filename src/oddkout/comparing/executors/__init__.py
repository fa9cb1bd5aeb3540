"""Where runs are performed: on this machine, on a Ray cluster, or under Slurm.

An executor is a function of jobs, each a few configs that train once, to an iterator of finished
runs in whatever order they end. It stores nothing: the caller is the one writer. What it cannot
finish comes back as failed runs, and what is under way ends when the iterator is closed.
"""

from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias

from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run

Job: TypeAlias = tuple[RunConfig, ...]
Executor: TypeAlias = Callable[[Sequence[Job]], Generator[list[Run], None, None]]
# What is done with a job, wherever: ``perform``, but in tests of executors.
Performer: TypeAlias = Callable[[Job], list[Run]]
