"""Lose nodes of a Ray cluster while a command performs its runs on it."""

import contextlib
import os
import sys
import tempfile
import time

NODES = 2


@contextlib.contextmanager
def cluster():
    """A cluster of nodes with one core each, and a head that performs nothing."""
    with tempfile.TemporaryDirectory(prefix="ok") as folder:
        os.environ |= {"RAY_TMPDIR": folder, "RAY_USAGE_STATS_ENABLED": "0"}
        # By default 15, so that nothing happens on a busy machine; Ray wants the name as it is.
        os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        os.environ.pop("RAY_ADDRESS", None)
        from ray.cluster_utils import Cluster

        made = Cluster(shutdown_at_exit=True)
        try:
            made.add_node(num_cpus=0, include_dashboard=False)
            yield made
        finally:
            made.shutdown()


def lost_nodes(trial):
    """Kill nodes at random times, and put new ones in their place."""
    with cluster() as made:
        nodes = [made.add_node(num_cpus=1) for _ in range(NODES)]
        ray = ["--executor", "ray", "--address", made.address]
        command = trial.start(*ray, is_forked=False)
        while not command.has_ended() and trial.counts["lost nodes"] < 4:
            pause = time.monotonic() + trial.choice.uniform(4, 12)
            while time.monotonic() < pause and not command.has_ended():
                time.sleep(0.05)
            if not command.has_ended():
                made.remove_node(nodes.pop(trial.choice.randrange(NODES)), allow_graceful=False)
                nodes.append(made.add_node(num_cpus=1))
                trial.counts["lost nodes"] += 1
        code, _, error = command.ended()
        trial.expect(code == 0, f"exit {code} without a node: {error[-300:]}")
