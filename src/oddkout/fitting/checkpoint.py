"""The state of a training run in one file, written completely or not at all."""

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from oddkout.checks import Number
from oddkout.reading import reading
from oddkout.records import checked_record
from oddkout.version import __version__
from oddkout.writing import write_tensors

_REPAIR = "delete it to start anew, or train with the arguments and version it was made with"


def run_digest(x: Tensor, y: Tensor, **arguments: Any) -> str:
    """Hash of data, arguments and code version of a training run. Only the same run may resume.

    Args:
        **arguments: Everything else that determines the weights; their ``repr`` is hashed.
    """
    code = {"oddkout": __version__, "torch": torch.__version__}
    digest = blake2b(repr(sorted((code | arguments).items())).encode(), digest_size=16)
    for part in (x, y):
        digest.update(f"{tuple(part.shape)}".encode())
        digest.update(part.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def save_checkpoint(
    path: Path,
    update: int,
    log: list[dict[str, Number]],
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    average: nn.Module | None,
    *,
    snapshots: Mapping[int, Mapping[str, Tensor]],
    run: str,
) -> None:
    """Write everything that training needs to resume. Replaces an earlier checkpoint atomically.

    Args:
        update: Number of updates done.
        average: Moving average of the weights, if there is one.
        snapshots: Weights kept so far, by number of updates.
        run: The ``run_digest`` of this run.
    """
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    if average is not None:
        tensors |= {f"average.{name}": value for name, value in average.state_dict().items()}
    for stop, weights in snapshots.items():
        tensors |= {f"snapshot.{stop}.{name}": value for name, value in weights.items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{number}.{key}": value for key, value in state.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.tmp")
    # Snapshots may share memory with the model; files must not.
    packed = {name: value.detach().contiguous().clone() for name, value in tensors.items()}
    metadata = {"update": str(update), "log": json.dumps(log), "run": run}
    write_tensors(packed, temporary, metadata=metadata)
    temporary.replace(path)


def load_checkpoint(
    path: Path,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    average: nn.Module | None,
    *,
    run: str,
    updates: int,
) -> tuple[int, list[dict[str, Number]], dict[int, dict[str, Tensor]]]:
    """Restore model, optimiser and average; return the updates done, the log and the snapshots.

    Args:
        run: The ``run_digest`` of this run; checkpoints of other runs raise.
        updates: Largest number of updates that can have been done.
    """
    with reading(path, kind="a checkpoint of this run", repair=_REPAIR):
        from safetensors import safe_open

        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if metadata.get("run") != run:
            raise ValueError("other data, arguments or version")
        update = int(metadata["update"])
        log = checked_record(metadata["log"], list)
        if not 0 < update <= updates:
            raise ValueError(f"{update} updates are done, which must lie in 1 .. {updates}")
        model.load_state_dict(_under(tensors, "model."))
        if average is not None:
            average.load_state_dict(_under(tensors, "average."))
        state = _by_number(_under(tensors, "optimiser."))
        optimiser.load_state_dict(optimiser.state_dict() | {"state": state})
        return update, log, _by_number(_under(tensors, "snapshot."))


def _by_number(tensors: dict[str, Tensor]) -> dict[int, dict[str, Tensor]]:
    """Tensors by the number that their names start with."""
    parts: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, key = name.split(".", 1)
        parts.setdefault(int(number), {})[key] = value
    return parts


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names start with the prefix, under their names without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
