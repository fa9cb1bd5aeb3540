"""Files of ours to damage: a table, a classifier of it, and a finished comparison on it."""

import numpy as np

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


def trained_in(folder):
    """A classifier of the table, in a new folder."""
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


def compared_in(folder):
    """A comparison on the table, in a new folder."""
    oko.compare(
        table(folder / "table.csv"), target="y", methods=["vanilla", "oko"], learning_rates=[0.1],
        folds=2, seeds=2, recipe={"updates": 5}, out=folder / "runs", executor=InThisProcess(),
    )  # fmt: skip
    return folder / "runs"
