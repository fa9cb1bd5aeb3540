"""Executors: the same runs everywhere, whatever dies on the way."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest
from grids import (
    SMALL,
    here,
    perform_and_tell,
    perform_nothing,
    perform_or_die,
    perform_well_or_die,
    within,
)

from oddkout.comparing.executors.local import LocalExecutor
from oddkout.comparing.executors.ray import RayExecutor
from oddkout.comparing.executors.slurm import SlurmExecutor
from oddkout.comparing.grid import jobs_of, perform_grid
from oddkout.comparing.store import RunStore

GRID = [replace(SMALL, method=m) for m in ("vanilla", "bb", "bb+ts", "oko")]
GRID.append(replace(SMALL, method="vanilla", seed=1))


def seeds(*numbers):
    return [(replace(SMALL, seed=number),) for number in numbers]


@pytest.fixture(autouse=True)
def limit():
    """No test waits for ever, for a cluster say."""
    with within(600):
        yield


@pytest.fixture(scope="module")
def expected():
    """The runs of the grid, performed in this process."""
    return {run.config: run for runs in here(jobs_of(GRID)) for run in runs}


def agree(folder, expected):
    """Whether stored runs, all but failed ones, are as expected to the last bit."""
    runs = [run for run in RunStore(folder).runs(has_predictions=True) if not run.has_failed]
    return all(
        np.array_equal(run.logits, expected[run.config].logits)
        and run.as_trained == expected[run.config].as_trained
        and run.tempered == expected[run.config].tempered
        for run in runs
    )


def test_a_process_that_is_killed_fails_its_own_job_and_is_replaced():
    executor = LocalExecutor(1, perform=perform_or_die)
    first, killed, last = (runs[0] for runs in executor(seeds(1, 13, 2)))
    assert [run.config.seed for run in (first, killed, last)] == [1, 13, 2], "in their order"
    assert killed.reason == (
        "the process that performed it was ended by SIGKILL, perhaps for want of memory"
    )
    assert not first.has_failed
    assert not last.has_failed
    assert first.notes != last.notes, "notes hold the id of the process"

    again = next(executor(seeds(3)))[0]
    assert again.notes == last.notes, "a process serves the next call, too"
    worker = psutil.Process(int(last.notes[0]))
    del executor
    assert psutil.wait_procs([worker], timeout=30)[1] == [], "it ends with its executor"


def test_a_number_of_processes_below_1_is_refused():
    for executor in (LocalExecutor, partial(RayExecutor, None), partial(SlurmExecutor, Path("x"))):
        with pytest.raises(ValueError, match="processes must be at least 1, got 0"):
            executor(0)
    with pytest.raises(ValueError, match="a cluster has its own number of processes"):
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


def test_submitit_finishes_a_grid_and_names_what_died(tmp_path, expected, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # which changes sums, unless a run sees to it
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    executor = SlurmExecutor(
        tmp_path / "jobs", cluster="local", seconds=0.1, perform=perform_well_or_die
    )
    config = replace(SMALL, method="vanilla")
    doomed = replace(config, seed=13)
    done, died = perform_grid([config, doomed], RunStore(tmp_path / "runs"), executor=executor)
    assert agree(tmp_path / "runs", expected)
    assert not done.has_failed
    assert died.has_failed
    assert died.reason.startswith("job ")
    assert not (tmp_path / "jobs").exists()


@pytest.fixture(scope="module")
def cluster():
    """Two nodes on this machine, of one core each, apart from any other Ray."""
    pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="ok") as folder:
        patch.setenv("RAY_TMPDIR", folder)  # short: its sockets lie below
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        patch.delenv("RAY_ADDRESS", raising=False)
        import ray
        from ray.cluster_utils import Cluster

        nodes = Cluster(shutdown_at_exit=True)
        try:
            nodes.add_node(num_cpus=1, include_dashboard=False)
            yield nodes
        finally:
            ray.shutdown()
            nodes.shutdown()


@pytest.mark.filterwarnings("ignore::FutureWarning:ray")
def test_a_ray_grid_survives_the_loss_of_a_node(tmp_path, cluster, expected):
    doomed = cluster.add_node(num_cpus=1, env_vars={"ODDKOUT_DOOMED": "1"})
    log, finished = tmp_path / "log.txt", []

    def kill_node(done, total, run):
        finished.extend([] if run is None else [run.config])
        if done != 1:
            return
        wait_for(lambda: "doomed" in log.read_text())
        cluster.remove_node(doomed, allow_graceful=False)

    executor = RayExecutor(cluster.address, perform=partial(perform_and_tell, log=str(log)))
    runs = perform_grid(GRID, RunStore(tmp_path / "runs"), executor=executor, progress=kill_node)
    assert [run.config for run in runs] == GRID
    assert not any(run.has_failed for run in runs)
    assert agree(tmp_path / "runs", expected)
    assert sorted(map(repr, finished)) == sorted(map(repr, GRID)), "every run exactly once"
    begun = [line.split() for line in log.read_text().splitlines()]
    lost = {run for run, where in begun if where == "doomed"}
    assert {run for run, _ in begun} == {job[0].id for job in jobs_of(GRID)}, "ids are the same"
    assert lost, "the node was killed in the middle of a run"
    assert lost <= {run for run, where in begun if where == "safe"}, "which was begun again"


@pytest.mark.filterwarnings("ignore::FutureWarning:ray")
def test_a_job_that_ray_loses_for_good_has_failed(cluster):
    executor = RayExecutor(cluster.address, retries=0, perform=perform_or_die)
    lost = next(executor(seeds(13)))[0]
    assert lost.reason.startswith("Ray lost it for good: WorkerCrashedError")

    import ray

    assert ray.is_initialized(), "for the next call"
    del executor
    gc.collect()  # the error that Ray raised holds the frame that it was raised in
    assert not ray.is_initialized(), "the connection ends with its executor"


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


def test_nothing_is_performed_for_no_jobs():
    assert list(LocalExecutor(2, perform=perform_nothing)([])) == []
