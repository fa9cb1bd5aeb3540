"""Perform runs in processes on this machine, one thread each."""

from collections.abc import Generator, Sequence

from oddkout.comparing.executors import Job, Performer
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
                yield failed_runs(jobs[position], runs.cause) if isinstance(runs, Died) else runs
        finally:
            finished.close()
