"""The local executor: the same runs, even if a process dies."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import psutil
import pytest
from grids import (
    jobs_with_seeds,
    perform_nothing,
    perform_or_die,
)

from oddkout.comparing.executors.local import LocalExecutor
from oddkout.comparing.executors.ray import RayExecutor
from oddkout.comparing.executors.slurm import SlurmExecutor


def test_a_process_that_is_killed_fails_its_own_job_and_is_replaced():
    executor = LocalExecutor(1, perform=perform_or_die)
    first, killed, last = (runs[0] for runs in executor(jobs_with_seeds(1, 13, 2)))
    assert [run.config.seed for run in (first, killed, last)] == [1, 13, 2], "in their order"
    assert killed.reason == (
        "the worker process was killed by SIGKILL; perhaps memory ran out: free some, or use fewer "
        "processes"
    )
    assert not first.has_failed
    assert not last.has_failed
    assert first.notes != last.notes, "notes hold the id of the process"

    again = next(executor(jobs_with_seeds(3)))[0]
    assert again.notes == last.notes, "a process serves the next call, too"
    worker = psutil.Process(int(last.notes[0]))
    del executor
    assert psutil.wait_procs([worker], timeout=30)[1] == [], "it ends with its executor"


def test_a_number_of_processes_below_1_is_refused():
    for executor in (LocalExecutor, partial(RayExecutor, None), partial(SlurmExecutor, Path("x"))):
        with pytest.raises(ValueError, match="processes must be at least 1, got 0"):
            executor(0)
    with pytest.raises(ValueError, match="an existing cluster determines the number of processes"):
        RayExecutor("auto", 2)


# No `if __name__ == "__main__"`: a process that ran this again would start processes in its turn.
SCRIPT = """
from dataclasses import replace
from grids import SMALL, perform_slowly
from oddkout.comparing.executors.local import LocalExecutor
executor = LocalExecutor(1, perform=perform_slowly)
for seed in (1, 13):
    for runs in executor([(replace(SMALL, seed=seed),)]):
        print("done", runs[0].config.seed, runs[0].reason, flush=True)
"""


def test_a_plain_script_may_use_processes_and_they_end_when_it_is_killed(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    driver = subprocess.Popen(
        [sys.executable, tmp_path / "script.py"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert driver.stdout.readline() == "done 1 \n"
        workers = psutil.Process(driver.pid).children(recursive=True)
        assert workers
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        driver.stdout.close()
    alive = psutil.wait_procs(workers, timeout=30)[1]
    for worker in alive:
        worker.kill()
    assert alive == []


def test_nothing_is_performed_for_no_jobs():
    assert list(LocalExecutor(2, perform=perform_nothing)([])) == []
