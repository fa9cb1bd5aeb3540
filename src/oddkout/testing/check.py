"""``check_loader``: read two epochs on every rank and check every batch."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias, get_args

import torch
from torch import Tensor

from oddkout.checks import Labels, at_least, few, one_of
from oddkout.losses.odd_k_out import Layout
from oddkout.testing.batches import TrainingLabels, digest, leaves
from oddkout.testing.class_draws import ClassDraws
from oddkout.testing.loader_report import LoaderReport

# A function from a batch to its labels and, if known, the indices of its examples.
Read: TypeAlias = Callable[[Any], tuple[Tensor, Tensor | None]]

_EPOCHS = 2


def check_loader(
    loader: Iterable[Any],
    labels: Labels,
    k: int,
    *,
    layout: Layout = "pool",
    before_epoch: Callable[[int], object] | None = None,
    read: Read | None = None,
) -> LoaderReport:
    """Read two epochs on every rank and report whether batches arrive as they were drawn.

    Pass the loader *as the training stack changed it*: after ``accelerator.prepare``, as
    ``trainer.train_dataloader`` in Lightning's ``on_train_start``, or from
    ``get_train_dataloader()`` of ``Trainer``. A batch sampler works, too. If ``torch.distributed``
    is initialised, all ranks must call this function. It advances the loader by two epochs.

    Labels are enough to check that sets are complete and classes uniform. To know which examples
    were drawn, the check needs indices: put ``Indices(labels)`` in place of the data set. Without
    indices, it compares the contents of batches.

    Args:
        loader: Yields (x, y), (index, ..., y), mappings with ``labels`` (and ``index``), as
            transformers' models take them, or indices alone.
        labels: Class of each example of the training data.
        k: Number of odd classes in a set.
        layout: ``"pool"`` or ``"paper"``, as in ``OddKOutLoss``.
        before_epoch: Called with 0 and 1 before each epoch, for loops that call
            ``sampler.set_epoch`` themselves.
        read: For other batches: a function that returns their labels, and their indices or None.

    Example:
        >>> from oddkout.samplers import OddKOutBatchSampler
        >>> labels = torch.arange(60) % 3
        >>> sampler = OddKOutBatchSampler(labels, k=1, sets_per_batch=6, seed=0)
        >>> check_loader(sampler, labels, k=1, layout="paper").is_sound
        True
        >>> torn = [batch[1:] for batch in sampler]
        >>> check_loader(torn, labels, k=1, layout="paper").is_whole
        False
    """
    from oddkout.fitting.training import process_number  # imported here: `import oddkout` is fast

    at_least("k", k, 0)
    one_of("layout", layout, get_args(Layout))
    training = TrainingLabels(labels)
    rank, ranks = process_number()
    epochs: list[_Epoch] = []
    failure = None
    try:
        for number in range(_EPOCHS):
            if before_epoch is not None:
                before_epoch(number)
            where = f"on rank {rank} in epoch {number}"
            epochs.append(_read_epoch(loader, training, k, layout, read or training.read, where))
    except ValueError as error:
        failure = str(error)  # raised below on all ranks, so that none waits for this one
    results = _gathered((epochs, failure), ranks)
    for _, failed in results:
        if failed is not None:
            raise ValueError(failed)
    return _report([of_rank for of_rank, _ in results], training, k, layout)


@dataclass
class _Epoch:
    """What one rank received in one epoch."""

    draws: list[ClassDraws]
    digests: list[bytes] = field(default_factory=list)
    units: int = 0
    broken: int = 0
    first_broken: str = ""
    has_indices: bool = True


def _read_epoch(
    loader: Iterable[Any], training: TrainingLabels, k: int, layout: Layout, read: Read, where: str
) -> _Epoch:
    """Read one epoch."""
    # Pair classes and odd classes are counted separately; a pool has one kind of draw.
    kinds = 2 if layout == "paper" else 1
    epoch = _Epoch([ClassDraws.of_none(classes=len(training.classes)) for _ in range(kinds)])
    judge = _judge_sets if layout == "paper" else _judge_pool
    for number, batch in enumerate(loader):
        labels, indices = read(batch)
        epoch.has_indices &= indices is not None
        epoch.digests.append(digest(leaves(batch) if indices is None else [indices]))
        broken = judge(epoch, training.numbered(labels), indices, training.sizes, k)
        if broken is not None and not epoch.first_broken:
            classes = training.classes[broken].tolist()
            epoch.first_broken = f"{where}, batch {number}, which holds classes {few(classes)}"
    if not epoch.digests:
        raise ValueError(
            f"the loader must yield batches, but there were none {where}; pass a loader, not an "
            "iterator, which is used up after one epoch"
        )
    return epoch


def _judge_sets(
    epoch: _Epoch, members: Tensor, indices: Tensor | None, sizes: Tensor, k: int
) -> Tensor | None:
    """Count the sets of a batch, and return the members of the first broken one."""
    whole, rest = divmod(len(members), k + 2)
    rows = members[: whole * (k + 2)].view(whole, k + 2)
    is_broken = rows[:, 0] != rows[:, 1]
    is_broken |= (rows[:, 1:].sort(dim=1).values.diff(dim=1) == 0).any(dim=1)
    if indices is not None:  # only a class with one example may repeat it in a pair
        pairs = indices[: whole * (k + 2)].view(whole, k + 2)[:, :2]
        is_broken |= (pairs[:, 0] == pairs[:, 1]) & (sizes[rows[:, 0]] > 1)
    epoch.units += whole + (rest > 0)
    epoch.broken += int(is_broken.sum()) + (rest > 0)
    pairs_drawn, odd_drawn = epoch.draws
    pairs_drawn.add(rows[:, 0].bincount(minlength=len(sizes)), draws=whole, size=1)
    odd_drawn.add(rows[:, 2:].flatten().bincount(minlength=len(sizes)), draws=whole, size=k)
    if is_broken.any():
        return rows[is_broken][0]
    return members[whole * (k + 2) :] if rest else None


def _judge_pool(
    epoch: _Epoch, members: Tensor, indices: Tensor | None, sizes: Tensor, k: int
) -> Tensor | None:
    """Count a pool, and return its members if it is broken."""
    counts = members.bincount(minlength=len(sizes))
    present = counts > 0
    classes, most = int(present.sum()), int(counts.max())
    epoch.units += 1
    epoch.draws[0].add(present, draws=1, size=classes)
    is_balanced = torch.equal(counts[present], sizes.clamp_max(most)[present])
    is_distinct = indices is None or len(set(indices.tolist())) == len(indices)
    if is_balanced and is_distinct and most >= 2 and classes >= k + 1:
        return None
    epoch.broken += 1
    return members


def _report(
    ranks: list[list[_Epoch]], training: TrainingLabels, k: int, layout: Layout
) -> LoaderReport:
    """Combine the epochs of all ranks."""
    every = [epoch for of_rank in ranks for epoch in of_rank]
    tests = [draws for epoch in every for draws in _uniform_draws(epoch, training.sizes)]
    worst = min(tests, key=lambda draws: draws.p_value)
    same_epoch = (
        _shared(first, second)
        for number in range(_EPOCHS)
        for first, second in combinations([of_rank[number] for of_rank in ranks], 2)
    )
    return LoaderReport(
        layout=layout,
        k=k,
        batches=[[len(epoch.digests) for epoch in of_rank] for of_rank in ranks],
        units=sum(epoch.units for epoch in every),
        broken=sum(epoch.broken for epoch in every),
        first_broken=next((epoch.first_broken for epoch in every if epoch.first_broken), ""),
        shared_by_ranks=max(same_epoch, default=0.0),
        shared_by_epochs=max(_shared(one[0], other[1]) for one in ranks for other in ranks),
        p_value=min(1.0, worst.p_value * len(tests)),
        draws=(worst.counts.min().item(), worst.counts.max().item(), worst.expected),
        evidence="indices" if all(epoch.has_indices for epoch in every) else "contents",
    )


def _uniform_draws(epoch: _Epoch, sizes: Tensor) -> list[ClassDraws]:
    """The draws of an epoch that must be uniform over classes."""
    first, *odd = epoch.draws
    if not odd or bool((sizes >= 2).all()):
        return epoch.draws
    # With singletons="odd-only", pair classes are uniform over the classes of at least 2 examples,
    # and odd classes are not uniform.
    can_pair = (sizes >= 2) | (first.counts > 0)
    pairs = ClassDraws.of_none(classes=int(can_pair.sum()))
    pairs.add(first.counts[can_pair], draws=int(first.counts.sum()), size=1)
    return [pairs]


def _shared(first: _Epoch, second: _Epoch) -> float:
    """Share of batches that occur in both epochs."""
    both = Counter(first.digests) & Counter(second.digests)
    return both.total() / min(len(first.digests), len(second.digests))


def _gathered(mine: tuple[list[_Epoch], str | None], ranks: int) -> list[Any]:
    """The epochs of every rank, in the order of ranks."""
    if ranks == 1:
        return [mine]
    gathered: list[Any] = [None] * ranks
    torch.distributed.all_gather_object(gathered, mine)
    return gathered
