"""Batches of the paper's sets."""

import torch
from jaxtyping import Int
from torch import Tensor

from oddkout.checks import Labels, at_least
from oddkout.samplers.keyed import KeyedBatchSampler
from oddkout.sets import ClassIndex, Singletons


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
