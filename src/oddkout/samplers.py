"""Batch samplers: odd-k-out sets, class-balanced pools, and batch-balancing."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping

import torch
from jaxtyping import Int
from torch import Tensor
from torch.utils.data import BatchSampler

from oddkout.checks import Labels, at_least
from oddkout.randomness import keyed_generator
from oddkout.sets import ClassIndex, Singletons


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


class OddKOutBatchSampler(KeyedBatchSampler):
    """Yield batches of the paper's sets, laid out set by set: pair, pair, odd_1, ..., odd_k.

    Pass it as a loader's ``batch_sampler`` and use ``OddKOutLoss(layout="paper")``.

    Args:
        labels: Class of each example of the data set, see ``ClassIndex``.
        k: Number of odd classes in a set.
        sets_per_batch: Number of sets in a batch, each of k + 2 examples.
        sets_per_epoch: Number of sets in an epoch, over all processes. The default is the number
            of examples, which gives as many updates as cross-entropy with batches of
            ``sets_per_batch`` examples.
        drop_last: Whether to leave out an incomplete last batch.
        seed: Seed of all randomness, together with the epoch and the rank.
        singletons: How to treat classes with one example, see ``ClassIndex``.
        num_replicas: Number of processes, see ``KeyedBatchSampler``.
        rank: Number of this process.
        sampler: For frameworks that inject one, see ``KeyedBatchSampler``.

    Example:
        >>> labels = torch.tensor([0, 0, 0, 0, 1, 1, 2, 2])
        >>> sampler = OddKOutBatchSampler(labels, k=1, sets_per_batch=2, seed=0)
        >>> len(sampler)
        4
        >>> batch = next(iter(sampler))
        >>> labels[batch].view(2, 3)[:, :2].diff().tolist()  # the pair shares its class
        [[0], [0]]
    """

    def __init__(
        self,
        labels: Labels,
        *,
        k: int,
        sets_per_batch: int,
        sets_per_epoch: int | None = None,
        drop_last: bool = False,
        seed: int = 0,
        singletons: Singletons = "error",
        num_replicas: int = 1,
        rank: int = 0,
        sampler: object = None,
    ) -> None:
        super().__init__(
            batch_size=at_least("sets_per_batch", sets_per_batch, 1) * (at_least("k", k, 0) + 2),
            drop_last=drop_last,
            seed=seed,
            num_replicas=num_replicas,
            rank=rank,
            sampler=sampler,
        )
        self.index = ClassIndex(labels, singletons=singletons)
        self.index.draw_sets(k=k, sets=1, generator=torch.Generator())  # raises if k is too large
        self.k = k
        self.sets_per_batch = sets_per_batch
        epoch = len(self.index) if sets_per_epoch is None else sets_per_epoch
        # Every process must get the same number of sets, or the others would wait forever.
        self._sets = -(-at_least("sets_per_epoch", epoch, 1) // self.num_replicas)

    def __len__(self) -> int:
        whole, rest = divmod(self._sets, self.sets_per_batch)
        return whole + (rest > 0 and not self.drop_last)

    def draw_batch(self, batch: int, generator: torch.Generator) -> Int[Tensor, " examples"]:
        """Draw the sets of one batch, flattened."""
        sets = min(self.sets_per_batch, self._sets - batch * self.sets_per_batch)
        return self.index.draw_sets(k=self.k, sets=sets, generator=generator).flatten()


class ClassBalancedBatchSampler(KeyedBatchSampler):
    """Yield class-balanced batches: pools of distinct examples, or the paper's batch-balancing.

    With ``examples_per_class``, a batch is a pool: ``classes_per_batch`` distinct classes and
    ``examples_per_class`` distinct examples of each (a smaller class gives all it has).
    ``OddKOutLoss`` draws its sets from such a pool. With ``batch_size`` instead, examples are drawn
    with replacement: first a class, then one of its examples (Algorithm 2).

    Args:
        labels: Class of each example of the data set, see ``ClassIndex``.
        batches: Number of batches in an epoch, over all processes.
        classes_per_batch: Number of classes in a pool; all if not given.
        examples_per_class: Number of examples of each class in a pool.
        batch_size: Number of examples in a batch drawn with replacement.
        seed: Seed of all randomness, together with the epoch and the rank.
        singletons: How to treat classes with one example in a pool, see ``ClassIndex``.
        num_replicas: Number of processes, see ``KeyedBatchSampler``.
        rank: Number of this process.
        sampler: For frameworks that inject one, see ``KeyedBatchSampler``.

    Example:
        >>> labels = torch.tensor([0, 0, 0, 0, 0, 0, 1, 1, 2, 2])
        >>> pools = ClassBalancedBatchSampler(labels, examples_per_class=2, batches=5, seed=0)
        >>> labels[next(iter(pools))].bincount().tolist()
        [2, 2, 2]
    """

    def __init__(
        self,
        labels: Labels,
        *,
        batches: int,
        classes_per_batch: int | None = None,
        examples_per_class: int | None = None,
        batch_size: int | None = None,
        seed: int = 0,
        singletons: Singletons = "error",
        num_replicas: int = 1,
        rank: int = 0,
        sampler: object = None,
    ) -> None:
        if (batch_size is None) == (examples_per_class is None) or (
            batch_size is not None and classes_per_batch is not None
        ):
            raise ValueError(
                "a batch is either a pool, given by examples_per_class (and classes_per_batch), or "
                f"batch_size examples drawn with replacement, got {classes_per_batch=}, "
                f"{examples_per_class=}, {batch_size=}; give one of the two"
            )
        # Batch-balancing needs no pairs, so classes with one example are fine.
        self.index = ClassIndex(labels, singletons=singletons if batch_size is None else "repeat")
        self.classes_per_batch = classes_per_batch
        self.examples_per_class = examples_per_class
        if examples_per_class is not None:
            # Draw one pool now to check the arguments. All pools have its size only if every
            # class holds at least examples_per_class examples.
            pool = self.index.draw_balanced(
                classes=classes_per_batch, per_class=examples_per_class, generator=torch.Generator()
            )
            batch_size = len(pool) if int(self.index.counts.min()) >= examples_per_class else None
        super().__init__(
            batch_size=None if batch_size is None else at_least("batch_size", batch_size, 1),
            drop_last=False,
            seed=seed,
            num_replicas=num_replicas,
            rank=rank,
            sampler=sampler,
        )
        self._batches = -(-at_least("batches", batches, 1) // self.num_replicas)

    def __len__(self) -> int:
        return self._batches

    def draw_batch(self, batch: int, generator: torch.Generator) -> Int[Tensor, " examples"]:
        """Draw one pool, or one batch with replacement."""
        if self.examples_per_class is not None:
            return self.index.draw_balanced(
                classes=self.classes_per_batch,
                per_class=self.examples_per_class,
                generator=generator,
            )
        return self.index.draw_examples(examples=self.batch_size, generator=generator)
