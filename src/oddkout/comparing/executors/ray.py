"""Perform runs on a Ray cluster: an existing one, or a temporary one on this machine."""

import logging
import os
import weakref
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from oddkout.checks import at_least
from oddkout.comparing.executors import Job, Performer
from oddkout.comparing.perform import perform
from oddkout.comparing.run import Run, failed_runs


@dataclass(frozen=True)
class RayExecutor:
    """Performs each job as a Ray task with one core; Ray returns the results.

    If a process or node is lost, its job is restarted elsewhere. All nodes need ``oddkout``, and
    the data at the same path.

    Args:
        address: Address of a cluster, such as ``"10.0.0.1:6379"`` or ``"auto"``; by default a
            cluster is started on this machine. The cluster or the connection ends with the
            executor.
        processes: Number of parallel jobs on a cluster that is started here; by default the number
            of cores.
        retries: How often a lost job is restarted.
        perform: Performs a job.
    """

    address: str | None = None
    processes: int | None = None
    retries: int = 3
    perform: Performer = perform

    def __post_init__(self) -> None:
        if self.processes is not None:
            at_least("processes", self.processes, 1)
            if self.address is not None:
                raise ValueError(
                    "an existing cluster determines the number of processes, got processes="
                    f"{self.processes} with address={self.address!r}; leave one of them out"
                )

    def __call__(self, jobs: Sequence[Job]) -> Generator[list[Run], None, None]:
        """Perform the jobs, starting them in the given order."""
        import ray

        if not ray.is_initialized():
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # sends no usage data
            ray.init(
                address=self.address or "local",
                num_cpus=self.processes,
                include_dashboard=None if self.address else False,
                logging_level=logging.ERROR,
                log_to_driver=False,
            )
            weakref.finalize(self, ray.shutdown)
        pending = []
        try:
            task = ray.remote(num_cpus=1, max_retries=self.retries)(_performed)
            job_of = {task.remote(self.perform, job): job for job in jobs}
            pending = list(job_of)
            while pending:
                ended, pending = ray.wait(pending)
                for reference in ended:
                    job = job_of.pop(reference)
                    try:
                        runs = ray.get(reference)
                    except ray.exceptions.RayError as error:
                        runs = failed_runs(job, f"Ray lost the job: {_line(error)}")
                    del reference  # lets Ray free the result
                    yield runs
        finally:
            for reference in pending:
                ray.cancel(reference, force=True)


def _performed(perform: Performer, job: Job) -> list[Run]:
    """Call ``perform``; Ray accepts plain functions only, not other callables."""
    return perform(job)


def _line(error: Exception) -> str:
    """The error as one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
