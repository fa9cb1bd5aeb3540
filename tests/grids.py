"""Grids for tests: a small setting, runs without training, and jobs that fail."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import kills
import numpy as np

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.config import RunConfig
from oddkout.comparing.perform import perform
from oddkout.comparing.run import Run, failed_runs
from oddkout.comparing.store import RunStore

SMALL = RunConfig(
    data="digits",
    distribution="heavy-tailed",
    train_examples=200,
    population="uniform",
    model="mlp",
    updates=20,
    folds=2,
)


# What the tests of executors perform: two of these methods train alike.
EXECUTED = [replace(SMALL, method=m) for m in ("vanilla", "bb", "bb+ts", "oko")]
EXECUTED.append(replace(SMALL, method="vanilla", seed=1))


def jobs_with_seeds(*seeds):
    """A job of the small setting for each seed."""
    return [(replace(SMALL, seed=seed),) for seed in seeds]


def configs(methods, seeds=(0,)):
    """The small setting with these methods and seeds."""
    return [replace(SMALL, method=method, seed=seed) for method in methods for seed in seeds]


def metrics(**values):
    """Metrics as a run holds them, all 0.5 but for those given."""
    names = ("accuracy", "nll", "ece", "brier", "entropy_gap")
    return {name: {"value": values.get(name, 0.5)} for name in names}


def run_of(config, *, fold_metrics=1.0, **values):
    """A run without training; its notes hold the id of its process."""
    return Run(
        config=config,
        as_trained=metrics(**values),
        tempered=metrics(**values),
        fold_metrics={"nll": fold_metrics},
        notes=[str(os.getpid())],
    )


def comparison_of(**values):
    """Accuracy, and NLL = 1 - accuracy, of every method, seed by seed; None has failed."""
    runs = []
    for method, accuracies in values.items():
        for seed, accuracy in enumerate(accuracies):
            config = replace(SMALL, method=method.replace("_", "+"), seed=seed)
            if accuracy is None:
                runs += failed_runs([config], f"seed {seed} diverged\nTraceback")
            else:
                nll = 1 - accuracy
                runs.append(run_of(config, accuracy=accuracy, nll=nll, fold_metrics=nll))
    random.Random(0).shuffle(runs)  # pairs are by seed, not by the order of runs
    order = [method.replace("_", "+") for method in values]
    return Comparison(runs=sorted(runs, key=lambda run: order.index(run.config.method)))


def here(jobs):
    """An executor without processes."""
    for job in jobs:
        yield perform(job)


def doubled_or_die(item):
    """Twice the item; a negative one kills its process, as a system short of memory does."""
    if item < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * item


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
    """Log the node on which a run starts; on a doomed node the run never ends."""
    is_doomed = "ODDKOUT_DOOMED" in os.environ
    with Path(log).open("a") as stream:
        stream.write(f"{job[0].id} {'doomed' if is_doomed else 'safe'}\n")
    if is_doomed:
        time.sleep(3600)
    return perform(job)


def environment():
    """Environment of a test process: the path of the tests, and one thread."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}


def killed_ten_times(folder, options):
    """The JSON output of a command after ten kills, and without kills; see ``kills``."""
    answer = subprocess.run(
        [sys.executable, kills.__file__, folder, *options],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["kills"] == kills.KILLS, "each kill hit a running process"
    return tuple(json.loads((folder / f"{name}.json").read_text()) for name in ("killed", "whole"))


@contextmanager
def within(seconds):
    """Raise if the block takes longer."""

    def raise_it(*_):
        raise TimeoutError(f"waited for {seconds} s")

    before = signal.signal(signal.SIGALRM, raise_it)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def agree(folder, expected):
    """Whether all stored runs that did not fail are bit-identical to the expected ones."""
    runs = [run for run in RunStore(folder).runs(has_predictions=True) if not run.has_failed]
    return all(
        np.array_equal(run.logits, expected[run.config].logits)
        and run.as_trained == expected[run.config].as_trained
        and run.tempered == expected[run.config].tempered
        for run in runs
    )
