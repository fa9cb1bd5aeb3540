"""Grids for tests: a small setting, runs that nobody trained, and jobs that go wrong."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import kills

from oddkout.comparing.config import RunConfig
from oddkout.comparing.perform import perform
from oddkout.comparing.run import Run

SMALL = RunConfig(
    data="digits",
    distribution="heavy-tailed",
    train_examples=200,
    population="uniform",
    model="mlp",
    updates=20,
    folds=2,
)


def configs(methods, seeds=(0,)):
    """The small setting with these methods and seeds."""
    return [replace(SMALL, method=method, seed=seed) for method in methods for seed in seeds]


def metrics(**values):
    """Metrics as a run holds them, all 0.5 but for those given."""
    names = ("accuracy", "nll", "ece", "brier", "entropy_gap")
    return {name: {"value": values.get(name, 0.5)} for name in names}


def run_of(config, *, fold_metrics=1.0, **values):
    """A run that nobody trained; its notes name the process that made it."""
    return Run(
        config=config,
        as_trained=metrics(**values),
        tempered=metrics(**values),
        fold_metrics={"nll": fold_metrics},
        notes=[str(os.getpid())],
    )


def here(jobs):
    """An executor without processes."""
    for job in jobs:
        yield perform(job)


def perform_nothing(job):
    return [run_of(config) for config in job]


def perform_or_die(job):
    """Seed 13 kills its process, as a system short of memory does."""
    if job[0].seed == 13:
        os.kill(os.getpid(), signal.SIGKILL)
    return perform_nothing(job)


def perform_well_or_die(job):
    return perform_or_die(job) if job[0].seed == 13 else perform(job)


def perform_slowly(job):
    if job[0].seed == 13:
        time.sleep(3600)
    return perform_nothing(job)


def perform_and_tell(job, *, log):
    """Append where a run has begun to a file; on a node that is doomed, it never ends."""
    is_doomed = "ODDKOUT_DOOMED" in os.environ
    with Path(log).open("a") as stream:
        stream.write(f"{job[0].id} {'doomed' if is_doomed else 'safe'}\n")
    if is_doomed:
        time.sleep(3600)
    return perform(job)


def environment():
    """What a process of a test is told: where the tests are, and one thread."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}


def killed_ten_times(folder, options):
    """What a command prints after ten kills and without any, as JSON; see ``kills``."""
    answer = subprocess.run(
        [sys.executable, kills.__file__, folder, *options],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["kills"] == kills.KILLS, "all of them found a driver at work"
    return tuple(json.loads((folder / f"{name}.json").read_text()) for name in ("killed", "whole"))


@contextmanager
def within(seconds):
    """Raise if the block takes longer, whatever it waits for."""

    def raise_it(*_):
        raise TimeoutError(f"waited for {seconds} s")

    before = signal.signal(signal.SIGALRM, raise_it)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
