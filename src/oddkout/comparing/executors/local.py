"""Perform runs in processes on this machine, one thread each."""

from collections.abc import Generator, Sequence

from oddkout.comparing.executors import Job, Performer
from oddkout.comparing.outsiders import too_slow
from oddkout.comparing.perform import perform
from oddkout.comparing.run import Run, failed_runs
from oddkout.workers import Died, Workers


class LocalExecutor:
    """Performs jobs in processes on this machine, one job per process at a time.

    If a worker dies, e.g. because memory runs out, its job fails and the worker is replaced.

    Args:
        processes: Number of processes; by default the number of cores.
        perform: Performs a job.
    """

    def __init__(self, processes: int | None = None, *, perform: Performer = perform) -> None:
        self._workers = Workers(perform, processes=processes)

    @property
    def processes(self) -> int:
        """Number of processes."""
        return self._workers.processes

    def __call__(self, jobs: Sequence[Job]) -> Generator[list[Run], None, None]:
        """Perform the jobs, starting them in the given order."""
        finished = self._workers(jobs)
        try:
            for position, runs in finished:
                job = jobs[position]
                yield failed_runs(job, _reason(job, runs)) if isinstance(runs, Died) else runs
        finally:
            finished.close()


def _reason(job: Job, died: Died) -> str:
    """Why a job failed whose worker died: a contestant of others is killed at its time limit."""
    limit = job[0].time_limit
    if limit is not None and died.seconds >= limit:
        return f"{too_slow(limit)}; it did not react, so its process was killed"
    return died.cause
