"""What a worker process runs, as a script: it watches its parent while PyTorch is imported."""

import multiprocessing as mp
import os
import threading
from multiprocessing.connection import Connection


def serve(end: Connection) -> None:
    """Receive a function and call it on items, until the other end of the pipe closes."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    function = end.recv()  # imports its module
    while True:
        try:
            item = end.recv()
        except EOFError:
            return
        end.send(function(item))


def _end_with_parent() -> None:
    """Exit as soon as the parent process ends."""
    parent = mp.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


if "end" in globals():  # given by ``oddkout.workers``, which runs this file
    serve(globals()["end"])
