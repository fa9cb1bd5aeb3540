"""Runs in processes of this machine, one thread each."""

import multiprocessing as mp
import os
import signal
import sys
import threading
import weakref
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from types import ModuleType
from typing import Any

from oddkout.checks import at_least
from oddkout.comparing.executors import Job, Performer
from oddkout.comparing.perform import perform
from oddkout.comparing.run import Run, failed_runs


class LocalExecutor:
    """Processes that perform one job after the other.

    One thread in each of two processes beats two threads in one. A process that dies, killed for
    want of memory say, takes its own job with it and is replaced; if this process dies, however
    suddenly, they end by themselves. Between calls they wait for the next one, since a process
    needs some seconds to begin; they end with the executor.

    It may be used anywhere, in a script without ``if __name__ == "__main__"`` or in a notebook:
    the processes know nothing of the main module.

    Args:
        processes: Number of processes; as many as there are cores if not given.
        perform: What is done with a job.
    """

    def __init__(self, processes: int | None = None, *, perform: Performer = perform) -> None:
        self.processes = at_least("processes", _cores() if processes is None else processes, 1)
        self.perform = perform
        self._idle: list[_Worker] = []
        weakref.finalize(self, _stop, self._idle)

    def __call__(self, jobs: Sequence[Job]) -> Generator[list[Run], None, None]:
        """Perform the jobs, the first ones first.

        Args:
            jobs: The jobs.
        """
        waiting = list(reversed(jobs))
        busy: dict[Any, _Worker] = {}
        ended: list[list[Run]] = []
        try:
            while waiting or busy:
                while waiting and len(busy) < self.processes:
                    worker = self._idle.pop() if self._idle else _Worker(self.perform)
                    busy[worker.end] = worker
                    worker.take(waiting.pop())
                # The caller stores what has ended while all processes are at work again.
                yield from ended
                ended = [self._finished(busy.pop(end)) for end in wait(list(busy))]
            yield from ended
        finally:
            _stop(list(busy.values()))

    def _finished(self, worker: "_Worker") -> list[Run]:
        """The runs of a worker, which is kept for the next job if it lives."""
        runs = worker.finished()
        if worker.is_dead:
            worker.stop()
        else:
            self._idle.append(worker)
        return runs


class _Worker:
    """One process, and this end of the pipe to it."""

    def __init__(self, perform: Performer) -> None:
        # Spawned, not forked: threads of PyTorch do not survive a fork.
        context = mp.get_context("spawn")
        self.end, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, perform), daemon=True)
        with _set_apart():
            self.process.start()
        other.close()
        self.job: Job = ()
        self.is_dead = False

    def take(self, job: Job) -> None:
        """Begin with a job."""
        self.job = job
        with suppress(ConnectionError):  # a process that is dead is found so by ``finished``
            self.end.send(job)

    def finished(self) -> list[Run]:
        """The runs of its job; failed ones, if the process has died."""
        try:
            runs: list[Run] = self.end.recv()
        except (EOFError, ConnectionError):
            self.is_dead = True
            self.process.join()
            return failed_runs(self.job, _cause(self.process.exitcode or 0))
        return runs

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self.end.close()


def _stop(workers: list[_Worker]) -> None:
    while workers:
        workers.pop().stop()


def _cause(code: int) -> str:
    """Why a process ended that should not have."""
    if code >= 0:
        return f"the process that performed it ended with code {code}; its last words are on stderr"
    want = ", perhaps for want of memory" if -code == signal.SIGKILL else ""
    return f"the process that performed it was ended by {signal.Signals(-code).name}{want}"


def _serve(end: Connection, perform: Performer) -> None:
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
def _set_apart() -> Iterator[None]:
    """What a process that starts meanwhile inherits: one thread, no main module, no Ctrl-C."""
    before = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS")}
    main = sys.modules["__main__"]
    has_mask = hasattr(signal, "pthread_sigmask")
    if has_mask:
        from multiprocessing import resource_tracker

        # It is started with the first process, and on its way lets signals through again.
        resource_tracker.ensure_running()
        # Ctrl-C goes to every process of a terminal. This one alone answers, and ends the others.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        os.environ["OMP_NUM_THREADS"] = "1"
        # A spawned process runs the main module again, unless it has neither file nor name.
        sys.modules["__main__"] = ModuleType("__main__")
        yield
    finally:
        sys.modules["__main__"] = main
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        if has_mask:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
