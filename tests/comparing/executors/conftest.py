"""Fixtures of the tests of executors."""

import pytest
from grids import EXECUTED, here, within

from oddkout.comparing.grid import jobs_of


@pytest.fixture(autouse=True)
def limit():
    """Limit the duration of every test, e.g. if no cluster answers."""
    with within(600):
        yield


@pytest.fixture(scope="module")
def expected():
    """The runs of the grid, performed in this process."""
    return {run.config: run for runs in here(jobs_of(EXECUTED)) for run in runs}
