"""Cut a rank of distributed training: the others must end with a clear message, and resume."""

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

import psutil
from hostile.started import GRACE_SECONDS

LAUNCHER = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
LIMIT_SECONDS = 120


def cut_ranks(trial):
    """Kill one of two ranks at a random time, once or twice."""
    for _ in range(trial.choice.randint(1, 2)):
        command = trial.start(launcher=LAUNCHER)
        must_have_joined = trial.choice.random() < 0.8
        while not command.has_ended() and not _is_ready(_ranks(command), must_have_joined):
            time.sleep(0.02)
        end = time.monotonic() + trial.choice.uniform(0, 0.2) * trial.seconds
        while not command.has_ended() and time.monotonic() < end:
            time.sleep(0.02)
        if len(ranks := _ranks(command)) < 2:
            command.ended()
            return
        have_joined = all(map(_has_joined, ranks))
        os.kill(trial.choice.choice(ranks).pid, signal.SIGKILL)
        trial.counts["cut ranks"] += 1
        began = time.monotonic()
        try:
            command.wait(LIMIT_SECONDS)
        except TimeoutError as error:
            trial.problems.append(str(error))
            continue
        alive = psutil.wait_procs(ranks, timeout=GRACE_SECONDS)[1]
        trial.expect(not alive, f"{len(alive)} ranks lived {GRACE_SECONDS} s after the launcher")
        slowest = max(trial.counts["seconds to end"], round(time.monotonic() - began))
        trial.counts["seconds to end"] = slowest
        code, _, error = command.ended()
        ours = [line for line in error.splitlines() if line.startswith("oddkout: ")]
        said = any("resume" in line for line in ours)
        if not have_joined:  # while ranks import PyTorch, only torchrun can say what happened
            said |= "Signal 9 (SIGKILL)" in error
            trial.counts["while importing"] += 1
        trial.expect(code != 0 and said, f"exit {code} of cut training: {error[-300:]}")


def _is_ready(ranks, must_have_joined):
    return len(ranks) == 2 and (not must_have_joined or all(map(_has_joined, ranks)))


def _has_joined(process):
    """Whether a rank has a thread of gloo, and so trains or is about to."""
    threads = Path(f"/proc/{process.pid}/task").glob("*/comm")
    with contextlib.suppress(OSError):
        return any("gloo" in thread.read_text() for thread in threads)
    return False


def _ranks(command):
    """The ranks that live; torchrun gives each a session of its own."""
    with contextlib.suppress(psutil.Error):
        family = psutil.Process(command.pid).children(recursive=True)
        return [process for process in family if "oddkout" in process.cmdline()]
    return []
