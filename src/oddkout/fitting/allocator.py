"""Make the C library's allocator keep freed memory for the next training step."""

import ctypes


def keep_memory() -> None:
    """Keep freed blocks, however large, instead of returning them to the system.

    By default large blocks go back and are asked for again, page by page, at every step. Where
    there is no such allocator, nothing happens.
    """
    mmap_threshold, trim_threshold = -3, -1  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD of malloc.h
    try:
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    except (TypeError, OSError):  # Windows has no library of that kind
        return
    if mallopt is not None:
        mallopt(mmap_threshold, 1 << 30)
        mallopt(trim_threshold, (1 << 31) - 1)
