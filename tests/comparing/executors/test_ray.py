"""The Ray executor: the same runs, even if a node is lost."""

import gc
import os
import sys
import tempfile
import time
from functools import partial

import pytest
from grids import (
    EXECUTED,
    agree,
    here,
    jobs_with_seeds,
    perform_and_tell,
    perform_or_die,
)
from rivals import grouped_rows

from oddkout.comparing.executors.ray import RayExecutor
from oddkout.comparing.grid import jobs_of, perform_grid
from oddkout.comparing.store import RunStore


@pytest.fixture(scope="module")
def cluster():
    """A cluster of nodes with one core each, isolated from any other Ray."""
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
    runs = perform_grid(
        EXECUTED, RunStore(tmp_path / "runs"), executor=executor, progress=kill_node
    )
    assert [run.config for run in runs] == EXECUTED
    assert not any(run.has_failed for run in runs)
    assert agree(tmp_path / "runs", expected)
    assert sorted(map(repr, finished)) == sorted(map(repr, EXECUTED)), "every run exactly once"
    begun = [line.split() for line in log.read_text().splitlines()]
    lost = {run for run, where in begun if where == "doomed"}
    assert {run for run, _ in begun} == {job[0].id for job in jobs_of(EXECUTED)}, "ids are the same"
    assert lost, "the node was killed in the middle of a run"
    assert lost <= {run for run, where in begun if where == "safe"}, "which was begun again"


@pytest.mark.filterwarnings("ignore::FutureWarning:ray")
def test_a_job_that_ray_loses_for_good_has_failed(cluster):
    executor = RayExecutor(cluster.address, retries=0, perform=perform_or_die)
    lost = next(executor(jobs_with_seeds(13)))[0]
    assert lost.reason.startswith("Ray lost the job: WorkerCrashedError")

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


@pytest.mark.filterwarnings("ignore::FutureWarning:ray")
def test_groups_give_the_same_numbers_on_a_cluster(tmp_path, cluster):
    there = grouped_rows(RayExecutor(cluster.address), tmp_path / "there")
    assert there == grouped_rows(here, tmp_path / "here")
