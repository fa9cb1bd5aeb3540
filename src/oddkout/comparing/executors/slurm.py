"""Runs as arrays of Slurm jobs, by submitit."""

import shutil
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from oddkout.checks import Number, at_least
from oddkout.comparing.executors import Job, Performer
from oddkout.comparing.perform import perform
from oddkout.comparing.run import Run, failed_runs

# Slurm's own limit, MaxArraySize, is 1001 unless its administrators raise it.
_LONGEST_ARRAY = 1000


@dataclass(frozen=True)
class SlurmExecutor:
    """Arrays of Slurm jobs, of one core each.

    All nodes need ``oddkout``, and the data and ``folder`` in the same place. What ``sbatch`` is to
    know beside, its own environment variables say: ``SBATCH_PARTITION``, ``SBATCH_ACCOUNT``,
    ``SBATCH_TIMELIMIT``. If this process is killed, its arrays go on, but nobody awaits them:
    cancel them with ``scancel`` before starting again, or the work is done twice.

    Args:
        folder: For scripts, logs and results on their way; removed when all is done.
        processes: Number of jobs at a time; as many as Slurm lets run if not given.
        minutes: Time limit of a job.
        cluster: ``"local"`` performs all at once on this machine, without Slurm: for tests.
        seconds: Time between two looks at the queue.
        perform: What is done with a job.
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
        """Perform the jobs, the first ones first.

        Args:
            jobs: The jobs.
        """
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
                except Exception as error:  # of many kinds: timed out, out of memory, cancelled
                    runs = failed_runs(job_of[done.job_id], f"job {done.job_id}: {error}")
                del under_way[done.job_id]
                yield runs
        finally:
            for job in under_way.values():
                job.cancel(check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
