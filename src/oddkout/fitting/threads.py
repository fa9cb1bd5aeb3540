"""No more threads than pay off: a small network is as fast with one, and the same everywhere."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from oddkout.checks import Number

# Below this many floating-point operations a training uses one thread, as the processes of a
# comparison do. It takes half a minute at most.
_WORTH_THREADS = 2e12


@contextmanager
def suitable_threads(operations: Number) -> Iterator[None]:
    """Use one thread within, if there is little to compute; restore the number afterwards.

    Args:
        operations: Floating-point operations of the training.
    """
    before = torch.get_num_threads()
    if operations < _WORTH_THREADS and before > 1:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)
