"""Let the C library keep freed memory for the next training step."""

import ctypes


def keep_memory() -> None:
    """Keep freed blocks of any size instead of returning them to the system.

    By default, large blocks are returned and requested again, page by page, at every step. Does
    nothing on systems whose C library has no ``mallopt``.
    """
    mmap_threshold, trim_threshold = -3, -1  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD of malloc.h
    try:
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    except (TypeError, OSError):  # on Windows
        return
    if mallopt is not None:
        mallopt(mmap_threshold, 1 << 30)
        mallopt(trim_threshold, (1 << 31) - 1)
