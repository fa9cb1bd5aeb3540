"""The Slurm executor: the same runs, and a reason for each that died."""

import os
import sys
from dataclasses import replace

from grids import (
    SMALL,
    agree,
    here,
    perform_well_or_die,
)
from rivals import grouped_rows

from oddkout.comparing.executors.slurm import SlurmExecutor
from oddkout.comparing.grid import perform_grid
from oddkout.comparing.store import RunStore


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


def test_groups_give_the_same_numbers_with_submitit(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    executor = SlurmExecutor(tmp_path / "jobs", cluster="local", seconds=0.1)
    there = grouped_rows(executor, tmp_path / "there")
    assert there == grouped_rows(here, tmp_path / "here")
