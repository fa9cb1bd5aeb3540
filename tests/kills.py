"""A command that runs a grid, killed ten times at random moments and started again.

    python tests/kills.py FOLDER COMMAND OPTION...

runs the command to its end in FOLDER/whole, and in FOLDER/killed with ten kills on the way; what it
prints goes to FOLDER/whole.json and FOLDER/killed.json. It fails if a finished run is lost or
written again, if a worker outlives its driver, or if other runs come out. Everything is imported
once and processes are forked from here instead of spawned: else ten drivers would spend a minute on
imports. All else is the command as it is.
"""

import json
import multiprocessing
import os
import random
import signal
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path

import psutil

KILLS = 10


def main(folder, options):
    from grids import SMALL
    from PIL import Image

    from oddkout import workers
    from oddkout.comparing.perform import perform

    assert Image
    fork = multiprocessing.get_context("fork")
    workers.mp.get_context = lambda name=None: fork
    perform([SMALL])  # imports what training imports

    code = ended(start(folder, "whole", options))
    assert code == 0, code
    whole = times(folder / "whole")
    pause = (max(whole.values()) - min(whole.values())) / len(whole) / 1e9

    choice = random.Random(0)
    known, kills = {}, 0
    for _ in range(KILLS):
        driver = start(folder, "killed", options)
        # Most come right after the start; all together they leave work for the last.
        goal = len(known) + choice.choice([0, 0, 0, max(1, len(whole) // KILLS)])
        while len(times(folder / "killed")) < goal and not has_ended(driver):
            time.sleep(0.005)
        time.sleep(choice.uniform(0, 0.7 * pause))
        workers = psutil.Process(driver).children(recursive=True)
        os.kill(driver, signal.SIGKILL)
        kills += ended(driver) == -signal.SIGKILL
        assert psutil.wait_procs(workers, timeout=60)[1] == [], "workers outlive their driver"
        now = times(folder / "killed")
        assert known.items() <= now.items(), "a finished run was lost or written again"
        known = now
    code = ended(start(folder, "killed", options))
    assert code == 0, code
    now = times(folder / "killed")
    assert known.items() <= now.items(), "a finished run was lost or written again"
    assert now.keys() == whole.keys(), "other runs than without kills"
    print(json.dumps({"kills": kills, "runs": len(whole), "before the last start": len(known)}))


def start(folder, name, options):
    """Start the command in a new process; return its id."""
    from oddkout.cli import main as command

    driver = os.fork()
    if driver:
        return driver
    try:
        with (folder / f"{name}.json").open("w") as out, redirect_stdout(out):
            os._exit(command([*options, "--json", "--out", str(folder / name)]))
    except BaseException as error:
        print(error, file=sys.stderr)
        os._exit(99)


def times(folder):
    """Modification time of each stored run."""
    return {file.parent.name: file.stat().st_mtime_ns for file in folder.glob("[!.]*/run.json")}


def has_ended(driver):
    return os.waitid(os.P_PID, driver, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def ended(driver):
    return os.waitstatus_to_exitcode(os.waitpid(driver, 0)[1])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
