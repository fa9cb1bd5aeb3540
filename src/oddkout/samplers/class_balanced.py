"""Class-balanced batches: pools, and the paper's batch-balancing."""

import torch
from jaxtyping import Int
from torch import Tensor

from oddkout.checks import Labels, at_least
from oddkout.samplers.keyed import KeyedBatchSampler
from oddkout.sets import ClassIndex, Singletons


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
