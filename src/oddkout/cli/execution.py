"""Options for the executor, shared by ``compare`` and ``reproduce``."""

from pathlib import Path
from typing import Annotated

import typer

from oddkout.checks import one_of
from oddkout.comparing.executors import Executor, Performer
from oddkout.comparing.executors.local import LocalExecutor
from oddkout.comparing.executors.ray import RayExecutor
from oddkout.comparing.executors.slurm import SlurmExecutor
from oddkout.comparing.perform import perform

ExecutorOption = Annotated[
    str,
    typer.Option(
        "--executor",
        help="Where to perform runs: local (processes on this machine), ray or slurm.",
    ),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address", help="Ray: address of a cluster; by default one is started on this machine."
    ),
]
ProcessesOption = Annotated[
    int | None,
    typer.Option("--processes", help="Number of parallel runs; by default the number of cores."),
]
RetryFailedOption = Annotated[
    bool, typer.Option("--retry-failed", help="Retry runs that failed before.")
]


def executor_named(
    name: str,
    *,
    address: str | None,
    processes: int | None,
    folder: Path,
    perform: Performer = perform,
) -> Executor:
    """The executor of the given name.

    Args:
        name: ``"local"``, ``"ray"`` or ``"slurm"``.
        address: Address of a Ray cluster.
        processes: Number of parallel jobs.
        folder: Folder of the runs.
        perform: Performs a job.
    """
    one_of("--executor", name, ("local", "ray", "slurm"))
    if address is not None and name != "ray":
        raise ValueError(f"--address needs --executor ray, got --executor {name}")
    if name == "ray":
        return RayExecutor(address, processes, perform=perform)
    if name == "slurm":
        return SlurmExecutor(folder.absolute() / ".submitit", processes, perform=perform)
    return LocalExecutor(processes, perform=perform)
