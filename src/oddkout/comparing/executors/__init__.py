"""Executors perform runs: on this machine, on a Ray cluster, or under Slurm.

An executor takes jobs and returns an iterator of finished runs, in the order in which they end. A
job is a tuple of configs that are trained once. Executors store nothing; their caller does. A job
that cannot be finished yields failed runs. Closing the iterator stops all running jobs.
"""

from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias

from oddkout.comparing.config import RunConfig
from oddkout.comparing.run import Run

Job: TypeAlias = tuple[RunConfig, ...]
Executor: TypeAlias = Callable[[Sequence[Job]], Generator[list[Run], None, None]]
# Performs a job: ``perform``, except in tests.
Performer: TypeAlias = Callable[[Job], list[Run]]
