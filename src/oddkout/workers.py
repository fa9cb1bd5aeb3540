"""Worker processes on this machine that call one function, with one thread each."""

import multiprocessing as mp
import os
import runpy
import signal
import sys
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from types import ModuleType
from typing import Any

from oddkout.checks import at_least


@dataclass(frozen=True)
class Died:
    """What comes instead of a result if a worker process dies, e.g. because memory runs out.

    Attributes:
        cause: Why it died.
        seconds: How long it worked on its last item.
    """

    cause: str
    seconds: float


class Workers:
    """Processes that call a function on one item at a time.

    Two processes with one thread each are faster than one process with two threads. A worker that
    dies is replaced. If this process dies, the workers stop by themselves. Workers take some
    seconds to start, so they are kept for later calls; they stop with this object.

    Works in scripts without ``if __name__ == "__main__"`` and in notebooks, because the workers do
    not import the main module.

    Args:
        function: Called with an item; both it and its results are pickled.
        processes: Number of processes; by default the number of cores.
    """

    def __init__(self, function: Callable[[Any], Any], *, processes: int | None = None) -> None:
        self.processes = at_least("processes", cores() if processes is None else processes, 1)
        self._function = function
        self._idle: list[_Worker] = []
        weakref.finalize(self, _stop, self._idle)

    def __call__(self, items: Sequence[Any]) -> Generator[tuple[int, Any], None, None]:
        """Call the function on all items, in order; yield positions and results as they come."""
        waiting = list(reversed(list(enumerate(items))))
        busy: dict[Any, _Worker] = {}
        ended: list[tuple[int, Any]] = []
        try:
            while waiting or busy:
                while waiting and len(busy) < self.processes:
                    worker = self._living()
                    busy[worker.end] = worker
                    worker.take(*waiting.pop())
                # All processes are busy again; now the caller may use the results.
                yield from ended
                ended = [self._finished(busy.pop(end)) for end in wait(list(busy))]
            yield from ended
        finally:
            _stop(list(busy.values()))

    def _living(self) -> "_Worker":
        """A worker without an item: one that is kept, unless it died meanwhile, or a new one."""
        while self._idle:
            worker = self._idle.pop()
            if worker.process.is_alive():
                return worker
            worker.stop()
        return _Worker(self._function)

    def _finished(self, worker: "_Worker") -> tuple[int, Any]:
        """The result of a worker. A living worker is kept for the next item."""
        result = worker.finished()
        if worker.is_dead:
            worker.stop()
        else:
            self._idle.append(worker)
        return worker.position, result


class _Worker:
    """A worker process and our end of the pipe to it."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        # Spawn instead of fork: the threads of PyTorch do not survive a fork.
        context = mp.get_context("spawn")
        self.end, worker_end = context.Pipe()
        # A path instead of a function: the worker must not import this package, and PyTorch with
        # it, before it watches its parent.
        script = str(Path(__file__).with_name("_worker.py"))
        self.process = context.Process(
            target=runpy.run_path, args=(script, {"end": worker_end}), daemon=True
        )
        with _set_apart():
            self.process.start()
        worker_end.close()
        self._send(function)
        self.position = 0
        self.began = time.monotonic()
        self.is_dead = False

    def take(self, position: int, item: Any) -> None:
        """Start with an item."""
        self.position = position
        self.began = time.monotonic()
        self._send(item)

    def _send(self, value: Any) -> None:
        with suppress(ConnectionError):  # ``finished`` notices a dead process
            self.end.send(value)

    def finished(self) -> Any:
        """The result; ``Died`` if the process has died."""
        try:
            return self.end.recv()
        except (EOFError, ConnectionError):
            self.is_dead = True
            self.process.join()
            return Died(_cause(self.process.exitcode or 0), time.monotonic() - self.began)

    def stop(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self.end.close()


def _stop(workers: list[_Worker]) -> None:
    while workers:
        workers.pop().stop()


def _cause(code: int) -> str:
    """Why a worker process ended, from its exit code."""
    if code >= 0:
        return f"the worker process ended with exit code {code}; see its output on stderr"
    is_memory = -code == signal.SIGKILL
    hint = "; perhaps memory ran out: free some, or use fewer processes" if is_memory else ""
    return f"the worker process was killed by {signal.Signals(-code).name}{hint}"


@contextmanager
def _set_apart() -> Iterator[None]:
    """Processes started inside the block get one thread, no main module and no Ctrl-C."""
    before = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS")}
    main = sys.modules["__main__"]
    has_mask = hasattr(signal, "pthread_sigmask")
    if has_mask:
        from multiprocessing import resource_tracker

        # It would otherwise start with the first worker and unblock signals.
        resource_tracker.ensure_running()
        # Ctrl-C reaches all processes of a terminal. Only this one handles it and stops the others.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        os.environ["OMP_NUM_THREADS"] = "1"
        # A spawned process imports the main module, unless that has neither file nor name.
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


def cores() -> int:
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
