"""The options that say where runs are performed, shared by all commands that perform grids."""

from pathlib import Path
from typing import Annotated

import typer

from oddkout.checks import one_of
from oddkout.comparing.executors import Executor
from oddkout.comparing.executors.local import LocalExecutor
from oddkout.comparing.executors.ray import RayExecutor
from oddkout.comparing.executors.slurm import SlurmExecutor

Where = Annotated[
    str,
    typer.Option(
        "--executor",
        help="Where runs are performed: local (processes of this machine), ray or slurm.",
    ),
]
Address = Annotated[
    str | None,
    typer.Option(help="Ray: address of a cluster; one on this machine if not given."),
]
Processes = Annotated[
    int | None, typer.Option(help="Runs at a time; as many as there is room for if not given.")
]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Try runs again that failed before.")
]


def executor_named(
    name: str, *, address: str | None, processes: int | None, folder: Path
) -> Executor:
    """The executor that the options ask for.

    Args:
        name: ``"local"``, ``"ray"`` or ``"slurm"``.
        address: Address of a Ray cluster.
        processes: Number of jobs at a time.
        folder: Folder of the runs.
    """
    one_of("--executor", name, ("local", "ray", "slurm"))
    if address is not None and name != "ray":
        raise ValueError(f"--address is that of a Ray cluster, got it with --executor {name}")
    if name == "ray":
        return RayExecutor(address, processes)
    if name == "slurm":
        return SlurmExecutor(folder.absolute() / ".submitit", processes)
    return LocalExecutor(processes)
