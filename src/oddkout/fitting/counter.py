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

    def next(self, updates: int, *, factor: int = 1) -> Progress | None:
        """The progress function for the next network, which makes this many updates.

        Args:
            updates: Number of updates.
            factor: Number of networks that are trained together, each with a share of the updates.
        """
        before = self._done
        self._done += updates
        progress = self._progress
        if progress is None:
            return None
        return lambda row: progress(
            row | {"done": before + factor * row["update"], "total": self._total}
        )
