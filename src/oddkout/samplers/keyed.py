"""The base class of batch samplers: batches that depend on seed, epoch, rank and number only."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping

import torch
from jaxtyping import Int
from torch import Tensor
from torch.utils.data import BatchSampler

from oddkout.checks import at_least
from oddkout.randomness import keyed_generator


class KeyedBatchSampler(BatchSampler):
    """A sampler whose batches depend only on (seed, epoch, rank, number of the batch).

    Any batch can be drawn without those before it. Resuming therefore needs two integers, and
    ranks and epochs differ without communication. The epoch advances with every pass, because some
    training stacks do not call ``set_epoch``. Those that do look for it on ``.sampler``, so a
    sampler is its own ``.sampler``.

    Args:
        batch_size: Number of examples in a batch, or None if it varies.
        drop_last: Whether to leave out an incomplete last batch.
        seed: Seed of all randomness, together with the epoch and the rank.
        num_replicas: Number of processes that share an epoch. Do not set it with Lightning, which
            sets it, or with Accelerate, which distributes whole batches itself.
        rank: Number of this process.
        sampler: Passed by Lightning, which rebuilds a batch sampler with a distributed sampler of
            single examples. Using that one would break up the sets, so only its ``rank`` and
            ``num_replicas`` are read.
    """

    def __init__(
        self,
        *,
        batch_size: int | None,
        drop_last: bool,
        seed: int,
        num_replicas: int,
        rank: int,
        sampler: object,
    ) -> None:
        self.num_replicas = at_least(
            "num_replicas", getattr(sampler, "num_replicas", num_replicas), 1
        )
        self.rank = at_least("rank", getattr(sampler, "rank", rank), 0)
        if self.rank >= self.num_replicas:
            raise ValueError(
                f"rank must be below num_replicas={self.num_replicas}, got {self.rank}; ranks "
                "count from 0"
            )
        self.seed = at_least("seed", seed, 0)
        self.sampler = self  # type: ignore[assignment]  # the base expects one of single indices
        self.batch_size = batch_size  # type: ignore[assignment]  # the base knows one size only
        self.drop_last = drop_last
        self._epoch = 0  # epoch of the next pass
        self._first = 0  # first batch of the next pass
        self._position: tuple[int, int] | None = None  # epoch and next batch of the current pass

    @abstractmethod
    def __len__(self) -> int:
        """Number of batches that this process gets in a whole epoch."""

    @abstractmethod
    def draw_batch(self, batch: int, generator: torch.Generator) -> Int[Tensor, " examples"]:
        """Draw the example indices of one batch of an epoch."""

    def __iter__(self) -> Iterator[list[int]]:
        epoch, first = self._epoch, self._first
        self._epoch, self._first = epoch + 1, 0
        for batch in range(first, len(self)):
            self._position = (epoch, batch + 1)
            generator = keyed_generator(self.seed, epoch, self.rank, batch)
            yield self.draw_batch(batch, generator).tolist()
        self._position = None

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next pass; if it is the epoch to resume, keep the position in it."""
        if at_least("epoch", epoch, 0) != self._epoch:
            self._epoch, self._first = epoch, 0
        self._position = None

    def state_dict(self) -> dict[str, int]:
        """The current epoch and the number of its batches drawn so far."""
        epoch, batch = self._position or (self._epoch, self._first)
        return {"epoch": epoch, "batch": batch}

    def load_state_dict(self, state_dict: Mapping[str, int]) -> None:
        """Resume from ``state_dict``: the next pass yields the remaining batches of its epoch."""
        epoch = at_least("epoch", state_dict["epoch"], 0)
        batch = at_least("batch", state_dict["batch"], 0)
        if batch > len(self):
            raise ValueError(
                f"the state was taken after batch {batch} of an epoch, but this sampler gives only "
                f"{len(self)}; build it with the same arguments as before"
            )
        self._epoch, self._first, self._position = epoch, batch, None
