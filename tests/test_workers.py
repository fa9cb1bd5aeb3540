"""Worker processes: results with their positions, and workers that die."""

import subprocess
import sys
import time
from contextlib import suppress

import psutil
import pytest
from grids import doubled_or_die

from oddkout.workers import Died, Workers


def test_every_item_has_its_result_and_a_worker_that_dies_is_replaced():
    workers = Workers(doubled_or_die, processes=2)
    results = dict(workers([3, -1, 5, 7]))
    assert isinstance(results[1], Died)
    assert (
        "killed by SIGKILL; perhaps memory ran out: free some, or use fewer processes"
        in results[1].cause
    )
    assert (results[0], results[2], results[3]) == (6, 10, 14)
    assert dict(workers([1])) == {0: 2}, "workers serve again"


def test_a_worker_that_died_while_it_waited_takes_no_item():
    workers = Workers(doubled_or_die, processes=1)
    assert dict(workers([1])) == {0: 2}
    waiting = workers._idle[0].process
    waiting.kill()
    waiting.join()
    assert dict(workers([2])) == {0: 4}


def test_processes_are_at_least_one():
    with pytest.raises(ValueError, match="processes must be at least 1, got 0"):
        Workers(doubled_or_die, processes=0)


def test_a_worker_ends_with_its_driver_even_while_it_imports(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import os, time\n"
        "if 'DRIVER' in os.environ and os.environ['DRIVER'] != str(os.getpid()):\n"
        "    time.sleep(60)\n"
        "def double(item):\n"
        "    return 2 * item\n"
    )
    driver = (
        "import os\n"
        "os.environ['DRIVER'] = str(os.getpid())\n"
        "from slow import double\n"
        "from oddkout.workers import Workers\n"
        "print(dict(Workers(double, processes=2)([1, 2])))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", driver], cwd=tmp_path)
    workers = []
    try:
        deadline = time.monotonic() + 60
        while len(workers) < 2 and time.monotonic() < deadline:
            family = psutil.Process(process.pid).children(recursive=True)
            workers = [child for child in family if "spawn_main" in " ".join(child.cmdline())]
            time.sleep(0.05)
        assert len(workers) == 2
        process.kill()
        process.wait()
        assert psutil.wait_procs(workers, timeout=30)[1] == [], "workers outlive their driver"
    finally:
        process.kill()
        for worker in workers:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
