"""One process at a time writes into a folder of runs."""

import subprocess
import sys

import pytest
from grids import environment

from oddkout.comparing.writers import only_writer

HOLD = """
import sys
from oddkout.comparing.writers import only_writer
with only_writer(sys.argv[1]):
    print("holding", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_until_the_first_is_killed(tmp_path):
    pytest.importorskip("fcntl")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], env=environment(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert holder.stdout.readline() == "holding\n"
        with pytest.raises(ValueError, match="one process at a time may perform the runs of"):
            only_writer(tmp_path).__enter__()
    finally:
        holder.kill()
        holder.communicate()
    with only_writer(tmp_path):
        pass
