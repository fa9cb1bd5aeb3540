"""Options that say where runs are performed, shared by all commands that perform grids."""

from pathlib import Path
from typing import Annotated

import typer

from oddkout.checks import one_of
from oddkout.comparing.executors import Executor
from oddkout.comparing.executors.local import LocalExecutor
from oddkout.comparing.executors.ray import RayExecutor
from oddkout.comparing.executors.slurm import SlurmExecutor

ExecutorOption = Annotated[
    str,
    typer.Option(
        "--executor",
        help="Where runs are performed: local (processes of this machine), ray or slurm.",
    ),
]
AddressOption = Annotated[
    str | None,
    typer.Option("--address", help="Ray: address of a cluster; by default one on this machine."),
]
ProcessesOption = Annotated[
    int | None, typer.Option("--processes", help="Runs at a time; by default as many as fit.")
]
RetryFailedOption = Annotated[
    bool, typer.Option("--retry-failed", help="Try runs again that failed before.")
]


def executor_named(
    name: str, *, address: str | None, processes: int | None, folder: Path
) -> Executor:
    """The executor of the given name.

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
