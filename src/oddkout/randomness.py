"""Random generators keyed by integers, so that no generator state has to be saved."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def keyed_generator(*key: int) -> torch.Generator:
    """Return a generator for this key; different keys give independent streams.

    Args:
        *key: Non-negative integers, such as a seed, an epoch and the number of a batch.

    Example:
        >>> draws = [torch.rand(1, generator=keyed_generator(0, 3)).item() for _ in range(2)]
        >>> draws[0] == draws[1] != torch.rand(1, generator=keyed_generator(3, 0)).item()
        True
    """
    return torch.Generator().manual_seed(_seed_of(key))


@contextmanager
def keyed_globals(*key: int, device: torch.device) -> Iterator[None]:
    """Seed PyTorch's global generators inside a ``with`` block, and restore them afterwards.

    Layers such as dropout always draw from the global generators.

    Args:
        *key: Non-negative integers, as for ``keyed_generator``.
        device: Device of the layers.

    Example:
        >>> with keyed_globals(0, 3, device=torch.device("cpu")):
        ...     inside = torch.rand(1)
        >>> torch.equal(inside, torch.rand(1, generator=keyed_generator(0, 3)))
        True
    """
    devices = [] if device.type == "cpu" else [device]
    with torch.random.fork_rng(devices=devices, device_type=_forked(device)):
        # torch.manual_seed is slower: it also queues a seed for GPUs that are not yet in use.
        torch.default_generator.manual_seed(_seed_of(key))
        if device.type == "cuda":
            torch.cuda.manual_seed(_seed_of(key))
        yield


def _seed_of(key: tuple[int, ...]) -> int:
    return int(np.random.SeedSequence(key).generate_state(1, np.uint64)[0])


def _forked(device: torch.device) -> str:
    """The ``device_type`` that ``fork_rng`` expects; it always saves the CPU's generator, too."""
    return "cuda" if device.type == "cpu" else device.type
