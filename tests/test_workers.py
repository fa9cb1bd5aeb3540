"""Worker processes: results with their positions, and workers that die."""

import pytest
from grids import doubled_or_die

from oddkout.workers import Died, Workers


def test_every_item_has_its_result_and_a_worker_that_dies_is_replaced():
    workers = Workers(doubled_or_die, processes=2)
    results = dict(workers([3, -1, 5, 7]))
    assert isinstance(results[1], Died)
    assert "killed by SIGKILL, perhaps because memory ran out" in results[1].cause
    assert (results[0], results[2], results[3]) == (6, 10, 14)
    assert dict(workers([1])) == {0: 2}, "workers serve again"


def test_processes_are_at_least_one():
    with pytest.raises(ValueError, match="processes must be at least 1, got 0"):
        Workers(doubled_or_die, processes=0)
