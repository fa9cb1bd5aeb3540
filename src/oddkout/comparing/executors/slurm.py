"""Perform runs as arrays of Slurm jobs, through submitit."""

import shutil
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from oddkout.checks import Number, at_least
from oddkout.comparing.executors import Job, Performer
from oddkout.comparing.perform import perform
from oddkout.comparing.run import Run, failed_runs

# Slurm's default limit, MaxArraySize, is 1001.
_LONGEST_ARRAY = 1000


@dataclass(frozen=True)
class SlurmExecutor:
    """Performs jobs as arrays of Slurm jobs with one core each.

    All nodes need ``oddkout``, and the data and ``folder`` at the same path. Set further ``sbatch``
    options through its environment variables, such as ``SBATCH_PARTITION``, ``SBATCH_ACCOUNT`` and
    ``SBATCH_TIMELIMIT``. If this process is killed, its arrays continue but their results are lost:
    cancel them with ``scancel`` before starting again.

    Args:
        folder: Folder for scripts, logs and results; removed at the end.
        processes: Number of parallel jobs; by default as many as Slurm allows.
        minutes: Time limit of a job.
        cluster: ``"local"`` runs all jobs on this machine without Slurm, for tests.
        seconds: Time between two polls of the queue.
        perform: Performs a job.
    """

    folder: Path
    processes: int | None = None
    minutes: int = 24 * 60
    cluster: Literal["slurm", "local"] = "slurm"
    seconds: Number = 5
    perform: Performer = perform

    def __post_init__(self) -> None:
        if self.processes is not None:
            at_least("processes", self.processes, 1)

    def __call__(self, jobs: Sequence[Job]) -> Generator[list[Run], None, None]:
        """Perform the jobs, starting them in the given order."""
        import submitit
        from submitit.helpers import as_completed

        submitter = submitit.AutoExecutor(self.folder, cluster=self.cluster)
        submitter.update_parameters(
            timeout_min=self.minutes,
            cpus_per_task=1,
            slurm_job_name="oddkout",
            slurm_array_parallelism=self.processes or len(jobs),
            slurm_setup=["export OMP_NUM_THREADS=1"],
        )
        submitted = []
        for start in range(0, len(jobs), _LONGEST_ARRAY):
            submitted += submitter.map_array(self.perform, jobs[start : start + _LONGEST_ARRAY])
        under_way = {job.job_id: job for job in submitted}
        job_of = dict(zip(under_way, jobs, strict=True))
        try:
            for done in as_completed(submitted, poll_frequency=self.seconds):
                try:
                    runs = done.result()
                except Exception as error:  # timeout, out of memory, cancelled, ...
                    runs = failed_runs(job_of[done.job_id], f"job {done.job_id}: {error}")
                del under_way[done.job_id]
                yield runs
        finally:
            for job in under_way.values():
                job.cancel(check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
