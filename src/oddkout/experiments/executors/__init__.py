"""Where runs are performed: on this machine, on a Ray cluster, or under Slurm.

An executor is a function of jobs, each a few configs that train once, to an iterator of finished
runs in whatever order they end. It stores nothing: the caller is the one writer.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from oddkout.experiments.config import RunConfig
from oddkout.experiments.run import Run

Job: TypeAlias = tuple[RunConfig, ...]
Executor: TypeAlias = Callable[[Sequence[Job]], Iterator[list[Run]]]
