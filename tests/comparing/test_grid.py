"""Grids of runs: missing runs are performed once, stored runs are kept."""

from dataclasses import replace

import pytest
from grids import SMALL, configs, run_of

from oddkout.comparing.grid import jobs_of, perform_grid
from oddkout.comparing.run import failed_runs
from oddkout.comparing.store import RunStore

# Grids


def test_methods_that_train_alike_train_once():
    grid = configs(["vanilla", "bb", "bb+ts", "oko", "bb+ts-fit", "bb+ls"], seeds=(0, 1))
    jobs = jobs_of(grid)
    assert sorted(config for job in jobs for config in map(repr, job)) == sorted(map(repr, grid))
    together = [{config.method for config in job} for job in jobs]
    assert together.count({"bb", "bb+ts", "bb+ts-fit"}) == 2
    assert len(jobs) == 8
    assert all(len({config.seed for config in job}) == 1 for job in jobs)


def test_the_most_work_comes_first():
    updates = [10, 1000, 100]
    jobs = jobs_of(replace(SMALL, updates=count) for count in updates)
    assert [job[0].updates for job in jobs] == [1000, 100, 10]


def test_a_grid_performs_what_is_missing_and_nothing_else(tmp_path):
    store, performed, calls = RunStore(tmp_path), [], []

    def executor(jobs):
        for job in reversed(jobs):  # in whatever order
            performed.extend(job)
            yield [run_of(config) for config in job]

    grid = configs(["vanilla", "bb", "bb+ts"], seeds=(0, 1))
    store.write(run_of(grid[1], nll=9.0))
    runs = perform_grid(
        [*grid, grid[0]], store, executor=executor, progress=lambda *all: calls.append(all[:2])
    )
    assert [run.config for run in runs] == grid
    assert sorted(map(repr, performed)) == sorted(repr(c) for c in grid if c != grid[1])
    assert runs[1].value("nll") == 9.0
    assert calls == [(done, 6) for done in range(1, 7)]
    performed.clear()
    perform_grid(grid, store, executor=executor)
    assert performed == []


def test_an_interrupted_grid_ends_its_executor_at_once_and_keeps_what_is_done(tmp_path):
    is_closed = []

    def executor(jobs):
        try:
            for job in jobs:
                yield [run_of(config) for config in job]
        finally:
            is_closed.append(True)

    def interrupt(done, total, run):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        perform_grid(
            configs(["vanilla"], range(5)),
            RunStore(tmp_path),
            executor=executor,
            progress=interrupt,
        )
    assert is_closed, f"while {caught.traceback[-1]} is still held"
    assert len(RunStore(tmp_path).runs()) == 2


def test_failed_runs_stay_until_they_are_forgotten(tmp_path):
    store, grid = RunStore(tmp_path), configs(["vanilla", "bb"])

    def failing(jobs):
        for job in jobs:
            yield failed_runs(job, "no luck")

    def working(jobs):
        for job in jobs:
            yield [run_of(config) for config in job]

    store.write(run_of(grid[0], nll=7.0))
    assert [run.reason for run in perform_grid(grid, store, executor=failing)] == ["", "no luck"]
    assert [run.reason for run in perform_grid(grid, store, executor=working)] == ["", "no luck"]
    store.forget_failed([*grid, replace(SMALL, seed=5)])
    runs = perform_grid(grid, store, executor=working)
    assert [run.value("nll") for run in runs] == [7.0, 0.5], "what worked is not touched"


# Tuning
