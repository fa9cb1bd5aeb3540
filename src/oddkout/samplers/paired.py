"""Batches of pairs, drawn by a power of the class frequency."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.balance import checked_power, to_power
from oddkout.checks import Labels, Number, at_least, one_of
from oddkout.pairs import draw_pairs, pair_frequencies
from oddkout.samplers.keyed import KeyedBatchSampler
from oddkout.sets import ClassIndex, Singletons


class PairedBatchSampler(KeyedBatchSampler):
    """Yield batches of pairs whose classes are drawn by a power of their frequency.

    With power 1, every example is equally likely and comes with a partner of its class: natural
    frequencies. With power 0, classes are equally likely, as in the paper. Use it with
    ``OddKOutLoss(prior=sampler.prior)``.

    Every batch holds at least k + 1 classes. If fewer are drawn, others replace the last pairs;
    ``prior`` counts that in.

    Args:
        labels: Class of each example of the data set, in ``0 .. classes - 1``.
        pairs: Number of pairs in a batch, which has twice as many examples.
        batches: Number of batches in an epoch, over all processes.
        power: Power of the class frequency, from 0 to 1.
        k: Number of odd classes of the loss.
        seed: Seed of all randomness, together with the epoch and the rank.
        singletons: How to treat classes with one example: ``"error"``, or ``"repeat"`` to pair the
            example with itself.
        num_replicas: Number of processes, see ``KeyedBatchSampler``.
        rank: Number of this process.
        sampler: For frameworks that inject one, see ``KeyedBatchSampler``.

    Attributes:
        prior: Class frequencies of the pairs, for ``OddKOutLoss``.

    Example:
        >>> labels = torch.tensor([0] * 8 + [1] * 4)
        >>> sampler = PairedBatchSampler(labels, pairs=4, batches=5, seed=0)
        >>> batch = torch.tensor(next(iter(sampler)))
        >>> bool((labels[batch[0::2]] == labels[batch[1::2]]).all())
        True
    """

    prior: Float[Tensor, " classes"]

    def __init__(
        self,
        labels: Labels,
        *,
        pairs: int,
        batches: int,
        power: Number = 1.0,
        k: int = 1,
        seed: int = 0,
        singletons: Singletons = "error",
        num_replicas: int = 1,
        rank: int = 0,
        sampler: object = None,
    ) -> None:
        one_of("singletons", singletons, ("error", "repeat"))
        self.index = ClassIndex(labels, singletons=singletons)
        counts = self.index.counts.double()
        self.pairs = at_least("pairs", pairs, 1)
        self.k = at_least("k", k, 0)
        self.shares = to_power(counts / counts.sum(), checked_power(power))
        drawn = pair_frequencies(self.shares, pairs=pairs, distinct=self.k + 1)
        self.prior = torch.full((int(self.index.classes.max()) + 1,), 1e-9, dtype=torch.float64)
        self.prior[self.index.classes] = drawn
        self.prior /= self.prior.sum()
        draw_pairs(
            self.index, batches=1, pairs=pairs, shares=self.shares, distinct=self.k + 1,
            generator=torch.Generator(),
        )  # fmt: skip  # raises for invalid arguments
        super().__init__(
            batch_size=2 * self.pairs,
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
        """Draw the pairs of one batch, flattened."""
        return draw_pairs(
            self.index,
            batches=1,
            pairs=self.pairs,
            shares=self.shares,
            distinct=self.k + 1,
            generator=generator,
        ).flatten()
