"""Fixtures of the tests of executors."""

import pytest
from grids import EXECUTED, here, within

from oddkout.comparing.grid import jobs_of


@pytest.fixture(autouse=True)
def limit():
    """No test waits for ever, for a cluster say."""
    with within(600):
        yield


@pytest.fixture(scope="module")
def expected():
    """The runs of the grid, performed in this process."""
    return {run.config: run for runs in here(jobs_of(EXECUTED)) for run in runs}
