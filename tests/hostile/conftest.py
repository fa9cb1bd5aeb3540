"""Files of ours to damage: a saved classifier of a table, and a finished comparison on it."""

import shutil

import numpy as np
import pytest

import oddkout as oko
from oddkout.comparing.perform import perform


def table(path, *, rows=60):
    """A table of two numbers, a category and a class."""
    rng = np.random.default_rng(0)
    lines = [
        f"{u:.3f},{v:.3f},{'pqr'[i % 3]},{'ill' if u > v else 'well'}"
        for i, (u, v) in enumerate(rng.normal(size=(rows, 2)))
    ]
    path.write_text("\n".join(["u,v,w,y", *lines]) + "\n")
    return path


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A classifier of the table."""
    folder = tmp_path_factory.mktemp("trained")
    classifier = oko.fit(
        table(folder / "table.csv"), target="y", method="vanilla", learning_rates=[0.1], folds=2,
        recipe={"updates": 20},
    )  # fmt: skip
    return classifier.save(folder / "model")


class InThisProcess:
    """An executor that starts no process."""

    processes = 1

    def __call__(self, jobs):
        return (perform(job) for job in jobs)


@pytest.fixture(scope="session")
def compared(tmp_path_factory):
    """A comparison on the table."""
    folder = tmp_path_factory.mktemp("compared")
    oko.compare(
        table(folder / "table.csv"), target="y", methods=["vanilla", "oko"], learning_rates=[0.1],
        folds=2, seeds=2, recipe={"updates": 5}, out=folder / "runs", executor=InThisProcess(),
    )  # fmt: skip
    return folder / "runs"


@pytest.fixture
def model(trained, tmp_path):
    """A copy of the classifier, to damage."""
    return shutil.copytree(trained, tmp_path / "model")


@pytest.fixture
def runs(compared, tmp_path):
    """A copy of the comparison, to damage."""
    return shutil.copytree(compared, tmp_path / "runs")
