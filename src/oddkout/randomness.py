"""Generators that are a function of a few integers, so that nothing has to be remembered."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def keyed_generator(*key: int) -> torch.Generator:
    """A generator for this key; different keys give unrelated streams.

    Args:
        *key: Integers from 0, such as a seed, an epoch and the number of a batch.

    Example:
        >>> draws = [torch.rand(1, generator=keyed_generator(0, 3)).item() for _ in range(2)]
        >>> draws[0] == draws[1] != torch.rand(1, generator=keyed_generator(3, 0)).item()
        True
    """
    return torch.Generator().manual_seed(_seed_of(key))


@contextmanager
def keyed_globals(*key: int, device: torch.device) -> Iterator[None]:
    """Seed PyTorch's global generators within, and leave them as they were.

    Layers such as dropout draw from these and take no other.

    Args:
        *key: Integers from 0, as for ``keyed_generator``.
        device: The device that the layers are on.

    Example:
        >>> with keyed_globals(0, 3, device=torch.device("cpu")):
        ...     inside = torch.rand(1)
        >>> torch.equal(inside, torch.rand(1, generator=keyed_generator(0, 3)))
        True
    """
    devices = [] if device.type == "cpu" else [device]
    with torch.random.fork_rng(devices=devices, device_type=_forked(device)):
        # Not torch.manual_seed, which notes a stack trace for a GPU that may be used some day.
        torch.default_generator.manual_seed(_seed_of(key))
        if device.type == "cuda":
            torch.cuda.manual_seed(_seed_of(key))
        yield


def _seed_of(key: tuple[int, ...]) -> int:
    return int(np.random.SeedSequence(key).generate_state(1, np.uint64)[0])


def _forked(device: torch.device) -> str:
    """What fork_rng calls the kind of device whose generators it keeps, besides the CPU's."""
    return "cuda" if device.type == "cpu" else device.type
