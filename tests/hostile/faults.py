"""Faults of one machine: kills, full disks, several writers, jumping clocks, lost workers.

A fault disturbs a ``Trial``: it starts the command, counts what it did to it, and notes what went
wrong. The command is run to its end afterwards.
"""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from hostile.outcomes import differences, left_over, outcome, run_names
from hostile.started import GRACE_SECONDS, Command, is_worker

FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")  # package faketime


@dataclass
class Trial:
    """One command that is disturbed.

    Attributes:
        arguments: Those of the command, without ``--out``.
        out: Its folder.
        seconds: How long it takes undisturbed.
        quiet: What it makes undisturbed.
        choice: Source of randomness.
        is_forked: Whether commands are forked instead of started.
        counts: How often it was disturbed, by what.
        problems: What went wrong, in words.
    """

    arguments: list
    out: Path
    seconds: float
    quiet: dict
    choice: random.Random
    is_forked: bool
    counts: Counter = field(default_factory=Counter)
    problems: list = field(default_factory=list)

    def start(self, *further, **options):
        """Start the command."""
        options = {"is_forked": self.is_forked} | options
        return Command([*self.arguments, "--out", str(self.out), *further], **options)

    def kill(self, command):
        """Kill a command; whatever of it lives on for too long is a problem."""
        was_alive, orphans = command.kill()
        command.close()
        self.counts["kills"] += was_alive
        if orphans:
            self.counts["orphans"] += len(orphans)
            self.problems.append(f"{len(orphans)} processes lived {GRACE_SECONDS} s after a kill")
        return was_alive

    def expect(self, claim, problem):
        if not claim:
            self.problems.append(problem)


def kills(trial):
    """Kill the command again and again: at random times, or while it writes."""
    for _ in range(trial.choice.randint(4, 12)):
        command = trial.start()
        if trial.choice.random() < 0.3:
            _wait_for_writing(trial, command)
        else:
            longest = trial.choice.choice([0.1, 0.2, 0.3, 1.1]) * trial.seconds
            _wait(command, trial.choice.uniform(0, longest))
        trial.kill(command)


def _wait(command, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not command.has_ended():
        time.sleep(0.005)


def _wait_for_writing(trial, command):
    """Wait until a new temporary file appears, a random number of times."""
    known, rounds = set(left_over(trial.out)), trial.choice.choice([1, 1, 1, 2, 4])
    while rounds and not command.has_ended():
        with contextlib.suppress(OSError):  # a folder that went away
            now = set(left_over(trial.out))
            rounds -= bool(now - known)
            known |= now
        time.sleep(0.0005)


def full_disk(trial):
    """Run the command on a disk that is full: of a few kilobytes, or with a limit on files."""
    for _ in range(2):
        kilobytes = trial.choice.choice([0, 4, 16, 60, 200])
        if trial.choice.random() < 0.5 or not _mounted(trial.out.parent, kilobytes):
            code, _, error = trial.start(most_bytes=1000 * kilobytes).ended()
            kind = "limit"
        else:
            code, _, error = trial.start().ended()
            kind = "disk"
            _kept_from(trial.out.parent)
        trial.counts["full disks"] += 1
        trial.expect(code == 2 or kilobytes, f"exit {code} on a full disk")
        if code not in (0, 2) or "Traceback" in error:
            last = (error.strip().splitlines() or [""])[-1]
            trial.problems.append(f"{kind} of {kilobytes} kB: exit {code}: {last[:200]}")


def _mounted(folder, kilobytes):
    """Mount a tiny disk on a folder, if we may; it starts with what the folder holds."""
    size = f"size={max(kilobytes, 4)}k"
    return (
        not any(folder.iterdir())
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)],
            capture_output=True,
            check=False,
        ).returncode
    )


def _kept_from(folder):
    """Unmount a tiny disk, keeping what it holds."""
    kept = folder.with_name(f"{folder.name}-kept")
    subprocess.run(["cp", "-a", str(folder), str(kept)], check=True)
    subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()
    kept.rename(folder)


def writers(trial):
    """Start several commands on one folder, and kill one of them."""
    number = trial.choice.choice([2, 2, 3, 4])
    commands = [trial.start() for _ in range(number)]
    trial.counts["writers"] += number
    doomed = trial.choice.choice(commands)
    _wait(doomed, trial.choice.uniform(0, 1.5 * trial.seconds))
    trial.kill(doomed)
    for command in commands:
        if command is not doomed:
            code, _, error = command.ended()
            was_refused = code == 2 and "one process at a time" in error
            if code != 0 and not was_refused:
                trial.problems.append(f"another writer: exit {code}: {error[-200:]}")


def clock_jumps(trial):
    """Let the clock jump by up to a month while the command runs; kill it and let it resume.

    The disk keeps the true time, as a file server would.
    """
    assert FAKETIME.exists(), "install the package faketime"
    clock = trial.out.with_name("clock")
    environment = {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
    }
    for is_killed in (True, False):
        _jump(trial, clock)
        command = trial.start(is_forked=False, environment=environment)
        end = time.monotonic() + trial.choice.uniform(0.3, 0.9) * trial.seconds
        while not command.has_ended() and not (is_killed and time.monotonic() > end):
            _wait(command, trial.choice.uniform(0.5, 3))
            _jump(trial, clock)
        if is_killed:
            trial.kill(command)
        else:
            code, _, error = command.ended()
            trial.expect(code == 0, f"exit {code} with a jumping clock: {error[-200:]}")


def _jump(trial, clock):
    hours = trial.choice.choice([-720, -25, -1.5, 0, 1.5, 25, 720])
    clock.write_text(f"{hours:+}h\n")
    trial.counts["clock jumps"] += 1


def lost_workers(trial):
    """Kill a worker as the kernel does when memory runs out: its runs fail, the rest finishes.

    The table must say which run failed, why, and what to do.
    """
    command = trial.start()
    while not (found := [p for p in command.workers() if is_worker(p)]) and not command.has_ended():
        time.sleep(0.01)
    _wait(command, trial.choice.uniform(0, 0.3) * trial.seconds)
    if not found:
        command.ended()
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(trial.choice.choice(found).pid, signal.SIGKILL)
        trial.counts["lost workers"] += 1
    code, output, error = command.ended()
    made = outcome(trial.out)
    if code == 0:  # it had nothing to do
        return
    failed = {name for name in run_names(made) if made[name]["reason"]}
    trial.counts["failed runs"] += len(failed)
    said = "killed by SIGKILL", "memory", "--retry-failed", *(f"run {name}" for name in failed)
    missing = [words for words in said if words not in output]
    trial.expect(code == 1 and not missing, f"exit {code}; not said: {missing}; {error[-200:]}")
    finished = {name: made[name] for name in run_names(made) - failed}
    same = {name: trial.quiet.get(name) for name in finished}
    trial.problems += differences(same, finished)
    trial.expect(len(finished) == len(run_names(trial.quiet)) - len(failed), "others are missing")
    code, _, error = trial.start("--retry-failed").ended()
    trial.expect(code == 0, f"exit {code} with --retry-failed: {error[-200:]}")
