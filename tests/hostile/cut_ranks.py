"""Cut a rank of distributed training: the others must end with a clear message, and resume."""

import os
import signal
import sys
import time

LAUNCHER = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
LIMIT_SECONDS = 120


def cut_ranks(trial):
    """Kill one of two ranks at a random time, once or twice."""
    for _ in range(trial.choice.randint(1, 2)):
        command = trial.start(launcher=LAUNCHER)
        end = time.monotonic() + trial.choice.uniform(0.2, 0.9) * trial.seconds
        while not command.has_ended() and (time.monotonic() < end or len(_ranks(command)) < 2):
            time.sleep(0.02)
        if command.has_ended():
            command.close()
            return
        os.kill(trial.choice.choice(_ranks(command)).pid, signal.SIGKILL)
        trial.counts["cut ranks"] += 1
        began = time.monotonic()
        try:
            command.wait(LIMIT_SECONDS)
        except TimeoutError as error:
            trial.problems.append(str(error))
            continue
        slowest = max(trial.counts["seconds to end"], round(time.monotonic() - began))
        trial.counts["seconds to end"] = slowest
        code, _, error = command.ended()
        ours = [line for line in error.splitlines() if line.startswith("oddkout: ")]
        said = any("resume" in line for line in ours)
        trial.expect(code != 0 and said, f"exit {code} of cut training: {error[-300:]}")


def _ranks(command):
    return [process for process in command.workers() if "oddkout" in process.cmdline()]
