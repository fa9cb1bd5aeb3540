"""Runs in processes of this machine, one thread each."""

import multiprocessing as mp
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait

from oddkout.checks import at_least
from oddkout.experiments.executors import Job
from oddkout.experiments.perform import perform
from oddkout.experiments.run import Run
from oddkout.experiments.versions import versions


@dataclass(frozen=True)
class LocalExecutor:
    """Processes that perform one job after the other.

    One thread in each of two processes beats two threads in one. A process that dies, killed for
    want of memory say, takes its own job with it and is replaced; if this process dies, however
    suddenly, they end by themselves.

    Args:
        processes: Number of processes; as many as there are cores if not given.
    """

    processes: int | None = None

    def __call__(self, jobs: Sequence[Job]) -> Iterator[list[Run]]:
        """Perform the jobs, the first ones first.

        Args:
            jobs: The jobs.
        """
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        count = self.processes if self.processes is not None else cores or 1
        waiting = list(reversed(jobs))
        workers = [_Worker() for _ in range(min(at_least("processes", count, 1), len(jobs)))]
        try:
            for worker in workers:
                worker.take(waiting.pop())
            while busy := {worker.end: worker for worker in workers if worker.job is not None}:
                for end in wait(list(busy)):
                    worker = busy[end]  # type: ignore[index]  # the ends are what was waited for
                    yield worker.finished()
                    if worker.is_dead:
                        workers[workers.index(worker)] = worker = _Worker()
                    if waiting:
                        worker.take(waiting.pop())
        finally:
            for worker in workers:
                worker.stop()


class _Worker:
    """One process, and this end of the pipe to it."""

    def __init__(self) -> None:
        # Spawned, not forked: threads of PyTorch do not survive a fork.
        context = mp.get_context("spawn")
        self.end, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other,), daemon=True)
        with _one_thread():
            self.process.start()
        other.close()
        self.job: Job | None = None
        self.is_dead = False

    def take(self, job: Job) -> None:
        """Begin with a job."""
        self.job = job
        self.end.send(job)

    def finished(self) -> list[Run]:
        """The runs of its job; failed ones, if the process has died."""
        job, self.job = self.job, None
        assert job is not None, "only a worker with a job is waited for"
        try:
            runs: list[Run] = self.end.recv()
        except (EOFError, ConnectionError):
            self.is_dead = True
            self.process.join()
            reason = (
                f"the process that performed it ended with code {self.process.exitcode}; it was "
                "killed, perhaps for want of memory"
            )
            return [Run(config=config, reason=reason, versions=versions()) for config in job]
        return runs

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.join()
        self.end.close()


def _serve(end: Connection) -> None:
    """Perform jobs until the other end closes."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            job = end.recv()
        except EOFError:
            return
        end.send(perform(job))


def _end_with_parent() -> None:
    """Wait for the end of the process that started this one, and follow it at once."""
    parent = mp.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Environment for a process to be started: numerical libraries in one thread."""
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before
