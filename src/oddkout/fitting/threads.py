"""Use one thread for small work: as fast, and with the same result on every machine."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from oddkout.checks import Number

# Training runs with fewer floating-point operations use one thread, as comparisons do. They take
# half a minute at most.
_WORTH_THREADS = 2e12


@contextmanager
def suitable_threads(operations: Number) -> Iterator[None]:
    """Use one thread inside the block if there is little to compute; restore the number after it.

    Args:
        operations: Number of floating-point operations in the block.
    """
    before = torch.get_num_threads()
    if operations < _WORTH_THREADS and before > 1:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let NumPy, SciPy and scikit-learn use one thread for linear algebra in a block or function.

    Their products are small here. On a busy machine, threads that wait for each other make them
    many times slower. Without ``threadpoolctl``, which comes with scikit-learn, nothing changes.

    Example:
        >>> with one_blas_thread():
        ...     pass
    """
    import scipy.linalg  # noqa: F401  # a library that is loaded later would not be limited

    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        yield
        return
    with threadpool_limits(1, user_api="blas"):
        yield
