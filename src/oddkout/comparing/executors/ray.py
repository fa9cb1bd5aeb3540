"""Runs on a Ray cluster: one that is there, or one on this machine for the occasion."""

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
    """A Ray task for each job, of one core; results come back through Ray.

    A job that is lost with its process or its node is begun again elsewhere. All nodes need
    ``oddkout``, and the data in the same place.

    Args:
        address: Address of a cluster, such as ``"10.0.0.1:6379"`` or ``"auto"``; one on this
            machine is started if not given. It, or the connection, ends with the executor.
        processes: Number of jobs at a time on a cluster that is started; as many as cores if not
            given.
        retries: How often a job that was lost is begun again.
        perform: What is done with a job.
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
                    f"a cluster has its own number of processes, got processes={self.processes} "
                    f"with address={self.address!r}; leave one of them out"
                )

    def __call__(self, jobs: Sequence[Job]) -> Generator[list[Run], None, None]:
        """Perform the jobs, the first ones first.

        Args:
            jobs: The jobs.
        """
        import ray

        if not ray.is_initialized():
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing goes over the network
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
                        runs = failed_runs(job, f"Ray lost it for good: {_line(error)}")
                    del reference  # so that Ray forgets the result
                    yield runs
        finally:
            for reference in pending:
                ray.cancel(reference, force=True)


def _performed(perform: Performer, job: Job) -> list[Run]:
    """What a Ray task does; Ray takes functions, but nothing else that can be called."""
    return perform(job)


def _line(error: Exception) -> str:
    """An error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
