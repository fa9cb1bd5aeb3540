"""The state of a training run in one file, written completely or not at all."""

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from oddkout.checks import Number


def run_digest(x: Tensor, y: Tensor, **arguments: Any) -> str:
    """Hash of the data and the arguments of a training run. Only the same run may resume.

    Args:
        **arguments: Everything else that determines the weights; their ``repr`` is hashed.
    """
    digest = blake2b(repr(sorted(arguments.items())).encode(), digest_size=16)
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
    from safetensors.torch import save_file

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
    save_file(packed, temporary, metadata=metadata)
    temporary.replace(path)


def load_checkpoint(
    path: Path,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    average: nn.Module | None,
    *,
    run: str,
) -> tuple[int, list[dict[str, Number]], dict[int, dict[str, Tensor]]]:
    """Restore model, optimiser and average; return the updates done, the log and the snapshots.

    Args:
        run: The ``run_digest`` of this run; checkpoints of other runs raise.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if metadata.get("run") != run:
            raise ValueError("other data or arguments")
        update, log = int(metadata["update"]), json.loads(metadata["log"])
        model.load_state_dict(_under(tensors, "model."))
        if average is not None:
            average.load_state_dict(_under(tensors, "average."))
    except (SafetensorError, KeyError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"{path} is not a checkpoint of this run ({reason}); delete it to start anew, or train "
            "with the arguments it was made with"
        ) from None
    state: dict[int, dict[str, Any]] = {}
    for name, value in _under(tensors, "optimiser.").items():
        number, key = name.split(".", 1)
        state.setdefault(int(number), {})[key] = value
    optimiser.load_state_dict(optimiser.state_dict() | {"state": state})
    snapshots: dict[int, dict[str, Tensor]] = {}
    for name, value in _under(tensors, "snapshot.").items():
        number, key = name.split(".", 1)
        snapshots.setdefault(int(number), {})[key] = value
    return update, log, snapshots


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names start with the prefix, under their names without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }
