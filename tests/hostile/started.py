"""Commands as processes: started as by a user, or forked from here with everything imported.

Imports are most of the time of a short command. A forked one is the same command without them.
"""

import contextlib
import fcntl
import importlib
import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time

import psutil

GRACE_SECONDS = 10
_PIPE_BYTES = 1 << 20  # what a command may write before somebody reads


class Command:
    """A running command: it leads a session, by which its processes are found.

    Args:
        arguments: Those of ``oddkout``.
        is_forked: Whether it is forked from here; see ``import_everything``.
        most_bytes: Limit on the size of files, beyond which every write fails, as on a full disk.
        environment: Further environment variables; only if it is not forked.
        launcher: What is called instead of ``python``, such as ``torchrun``; likewise.
    """

    def __init__(
        self, arguments, *, is_forked=False, most_bytes=None, environment=None, launcher=()
    ):
        self._readers = {}
        ends = {}
        for name in ("output", "error"):
            self._readers[name], ends[name] = os.pipe()
            fcntl.fcntl(ends[name], fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        if is_forked:
            self.pid = _forked(arguments, ends, most_bytes)
        else:
            launched = launcher or [sys.executable]
            self._process = subprocess.Popen(
                [*launched, "-m", "oddkout", *arguments],
                stdout=ends["output"],
                stderr=ends["error"],
                env=os.environ | (environment or {}),
                start_new_session=True,
                preexec_fn=lambda: _limit(most_bytes),
            )
            self.pid = self._process.pid
        for end in ends.values():
            os.close(end)
        self.code = None

    def has_ended(self):
        return self.code is not None or (
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        )

    def wait(self, seconds=600):
        """The exit code, once the command has ended; raises if that takes too long."""
        end = time.monotonic() + seconds
        while not self.has_ended():
            if time.monotonic() > end:
                self.kill()
                raise TimeoutError(f"the command did not end in {seconds} s")
            time.sleep(0.01)
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            if hasattr(self, "_process"):
                self._process.returncode = self.code
        return self.code

    def ended(self):
        """Exit code, output and errors, once the command has ended."""
        self.wait()
        return self.code, self._read("output"), self._read("error")

    def _read(self, name):
        """All that was written. Processes that outlive the command may hold the other end."""
        reader = self._readers.pop(name)
        os.set_blocking(reader, False)
        with contextlib.suppress(BlockingIOError), os.fdopen(reader, "rb") as stream:
            return (stream.read() or b"").decode(errors="replace")
        return ""

    def workers(self):
        """The other processes of the command's session, without those that serve Python."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, ProcessLookupError):
                is_own = os.getsid(process.pid) == self.pid and process.pid != self.pid
                if is_own and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def kill(self):
        """Kill it; return whether it still ran, and the processes that outlive it too long."""
        if self.has_ended():
            self.wait()
            return False, []
        os.kill(self.pid, signal.SIGKILL)
        self.wait()
        end = time.monotonic() + GRACE_SECONDS
        while (alive := self.workers()) and time.monotonic() < end:
            time.sleep(0.05)
        for process in alive:  # before the next start disturbs them
            process.kill()
        return True, alive

    def close(self):
        for reader in self._readers.values():
            os.close(reader)
        self._readers = {}


def is_worker(process):
    """Whether a process of a command performs runs, and does not only serve Python."""
    return "resource_tracker" not in " ".join(process.cmdline())


def _limit(most_bytes):
    if most_bytes is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that writing raises
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))


def _forked(arguments, ends, most_bytes):
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.setsid()
        os.dup2(ends["output"], 1)
        os.dup2(ends["error"], 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        _limit(most_bytes)
        from oddkout.cli import main

        code = main(arguments)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def import_everything(commands, folder):
    """Import what the commands import, and let their workers be forked instead of spawned.

    Each command is run once in a process that tells which modules it has imported.
    """
    from hostile.originals import compared_in

    from oddkout import workers

    fork = multiprocessing.get_context("fork")
    workers.mp.get_context = lambda name=None: fork
    names = set()
    for number, arguments in enumerate(commands):
        file = folder / f"modules-{number}.json"
        child = os.fork()
        if not child:
            os.setsid()
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            from oddkout.cli import main

            code = main([*arguments, "--out", str(folder / f"imports-{number}")])
            file.write_text(json.dumps(sorted(sys.modules)))
            os._exit(code)
        assert os.waitpid(child, 0)[1] == 0, arguments
        names |= set(json.loads(file.read_text()))
    (folder / "imports").mkdir()
    compared_in(folder / "imports")  # what workers import
    for name in sorted(names):
        if name not in sys.modules:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
