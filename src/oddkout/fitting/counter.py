"""One progress bar for the networks of all folds and the final network."""

from oddkout.fitting.training import Progress


class UpdateCounter:
    """Counts the updates of several networks.

    Args:
        progress: Called with each row of a log, extended by ``done`` and ``total``.
        total: Number of updates of all networks.
    """

    def __init__(self, progress: Progress | None, *, total: int) -> None:
        self._progress = progress
        self._done = 0
        self._total = total

    def next(self, updates: int) -> Progress | None:
        """The progress function for the next network, which makes this many updates."""
        before = self._done
        self._done += updates
        progress = self._progress
        if progress is None:
            return None
        return lambda row: progress(row | {"done": before + row["update"], "total": self._total})
