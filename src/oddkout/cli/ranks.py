"""The processes of torchrun that train together: joining them, and what to say if one is lost."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

_RESUME = "run the same command again to resume from the last checkpoint"


@contextmanager
def processes() -> Iterator[bool]:
    """Join the process group of torchrun, if any; yield whether this is the first process.

    If another process of the group is lost, this one ends with a sentence that says so.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield True
        return
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    before = signal.signal(signal.SIGTERM, _end)
    try:
        torch.distributed.init_process_group(backend)
        yield torch.distributed.get_rank() == 0
    except RuntimeError as error:
        if not _is_lost(error):
            raise
        raise OSError(
            "all processes that train together must live, but one has ended "
            f"({' '.join(str(error).split())[:200]}); {_RESUME}"
        ) from None
    finally:
        # A wrapped model keeps the group alive until it is collected. Threads of the group that
        # outlive the interpreter sometimes abort the process (pytorch issue 190489).
        gc.collect()
        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()
        signal.signal(signal.SIGTERM, before)


def _is_lost(error: RuntimeError) -> bool:
    """Whether the connection to another process is lost; gloo raises plain errors then."""
    return isinstance(error, torch.distributed.DistError) or "gloo" in str(error)


def _end(*_: Any) -> None:
    """End at once: torchrun sends SIGTERM to the others if a process of the group ends."""
    rank = os.environ.get("RANK", "?")
    print(
        f"oddkout: process {rank} was stopped by SIGTERM, because another process of the training "
        f"ended or the launcher was stopped; {_RESUME}",
        file=sys.stderr,
        flush=True,
    )
    os._exit(128 + signal.SIGTERM)
