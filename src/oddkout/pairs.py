"""Pairs drawn by given class frequencies, and sets drawn by the frequencies of a batch."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from oddkout.checks import at_least
from oddkout.draws import at, below
from oddkout.sets import ClassIndex

# Batches simulated for the class frequencies of completed batches with more than two classes.
_SIMULATED = 100_000


def draw_pairs(
    index: ClassIndex,
    *,
    batches: int,
    pairs: int,
    shares: Float[Tensor, " classes"],
    distinct: int = 1,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "{batches} {pairs} 2"]:
    """Draw pairs of different examples of one class; classes are drawn by given frequencies.

    A class with one example is paired with itself, if the index allows it.

    Args:
        index: The examples of each class.
        batches: Number of batches.
        pairs: Number of pairs in a batch.
        shares: Frequency with which each class of the index is drawn.
        distinct: Least number of different classes in a batch. If fewer are drawn, missing classes
            replace the last pairs, again by their frequencies; see ``pair_frequencies``.
        generator: Source of randomness; torch's global one if not given.

    Example:
        >>> index = ClassIndex([0, 0, 0, 1, 1])
        >>> draw_pairs(index, batches=2, pairs=3, shares=torch.tensor([0.6, 0.4])).shape
        torch.Size([2, 3, 2])
    """
    drawn = _drawn_classes(batches, pairs, shares, distinct, generator).flatten()
    size = at(index.counts, drawn)
    first = below(size, (len(drawn),), generator)
    step = 1 + below(size - 1, (len(drawn),), generator)
    numbers = torch.stack([first, (first + step) % size], dim=1)
    return index.members(drawn, numbers).view(batches, pairs, 2)


def pair_frequencies(
    shares: Float[Tensor, " classes"], *, pairs: int, distinct: int
) -> Float[Tensor, " classes"]:
    """Class frequencies of the pairs in batches with at least ``distinct`` classes.

    Exact for up to two classes: a batch of one class c, which has the probability shares[c] **
    pairs, exchanges one pair for another class. For more, they are simulated with a fixed seed.

    Args:
        shares: Frequency with which each class is drawn.
        pairs: Number of pairs in a batch.
        distinct: Least number of different classes in a batch.

    Example:
        Two pairs of two classes: a batch always holds both.

        >>> pair_frequencies(torch.tensor([0.9, 0.1]), pairs=2, distinct=2)
        tensor([0.5000, 0.5000], dtype=torch.float64)
    """
    given = shares.double() / shares.double().sum()
    if distinct <= 1:
        return given
    if distinct > 2:
        source = torch.Generator().manual_seed(0)
        drawn = _drawn_classes(_SIMULATED, pairs, given, distinct, source).flatten()
        counts = drawn.bincount(minlength=len(given)).double()
        return counts.clamp_min(0.5) / counts.clamp_min(0.5).sum()
    alone = given**pairs
    gained = given * ((alone / (1 - given)).sum() - alone / (1 - given))
    return given + (gained - alone) / pairs


def _drawn_classes(
    batches: int,
    pairs: int,
    shares: Float[Tensor, " classes"],
    distinct: int,
    generator: torch.Generator | None,
) -> Int[Tensor, "{batches} {pairs}"]:
    """The classes of all pairs."""
    at_least("pairs", pairs, 1)
    if distinct > min(pairs, len(shares)):
        raise ValueError(
            f"a batch of {pairs} pairs of {len(shares)} classes cannot hold {distinct} different "
            "classes; draw more pairs or lower k"
        )
    limits = shares.double().cumsum(dim=0)  # faster than torch.multinomial
    keys = torch.rand(batches * pairs, generator=generator, dtype=torch.float64) * limits[-1]
    drawn = torch.searchsorted(limits, keys, right=True)
    drawn = drawn.clamp_max_(len(shares) - 1).view(batches, pairs)  # if a key is rounded up
    for row in _poor_batches(drawn, distinct):
        drawn[row] = _completed(drawn[row].tolist(), shares, distinct, generator)
    return drawn


def _poor_batches(drawn: Int[Tensor, "batches pairs"], distinct: int) -> list[int]:
    """The batches with fewer than ``distinct`` classes."""
    if distinct <= 1:
        return []
    if distinct == 2:  # without sorting, which takes longer than drawing
        is_poor = (drawn == drawn[:, :1]).all(dim=1)
    else:
        is_poor = 1 + (drawn.sort(dim=1).values.diff(dim=1) != 0).sum(dim=1) < distinct
    rows: list[int] = is_poor.nonzero().flatten().tolist()
    return rows


def _completed(
    drawn: list[int],
    shares: Float[Tensor, " classes"],
    distinct: int,
    generator: torch.Generator | None,
) -> Int[Tensor, " pairs"]:
    """The classes of a batch, the last ones replaced by missing classes."""
    present = list(dict.fromkeys(drawn))
    missing = shares.double().clone()
    missing[present] = 0
    added = missing.multinomial(distinct - len(present), generator=generator).tolist()
    for label in present:  # one of each stays
        drawn.remove(label)
    return torch.tensor((present + drawn)[: len(present) + len(drawn) - len(added)] + added)


def natural_sets(
    labels: Int[Tensor, "*batches examples"],
    *,
    k: int,
    sets: int,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "*batches sets members"]:
    """Draw sets from batches by the frequencies that the examples have there.

    A set begins with a random example that has a partner of its class in the batch; the partner is
    random, too. Each odd member is a random example of the classes that the set lacks. So classes
    form pairs as often as they occur, instead of equally often as in ``ClassIndex.draw_sets``.

    Args:
        labels: Classes of the examples of each batch; each batch must hold k + 1 classes, one of
            them at least twice.
        k: Number of odd classes in a set.
        sets: Number of sets of each batch.
        generator: Source of randomness; torch's global one if not given.

    Returns:
        Positions in the batch: the pair, then the odd members.

    Example:
        >>> labels = torch.tensor([0, 0, 0, 0, 1, 1])
        >>> sets = natural_sets(labels, k=1, sets=100, generator=torch.Generator().manual_seed(0))
        >>> pair, partner, odd = labels[sets].T
        >>> bool((pair == partner).all()), bool((pair == odd).any())
        (True, False)
    """
    rows = labels.reshape(-1, labels.shape[-1])
    batches, examples = rows.shape
    is_alike = rows[:, :, None] == rows[:, None, :]
    # With one example twice in a batch, as for a class of one example, both positions count.
    has_partner = is_alike.sum(dim=2) > 1
    if not has_partner.any(dim=1).all():
        raise ValueError(
            "natural sets need two examples of one class in every batch, but in one batch every "
            "class occurs once; use PairedBatchSampler"
        )
    shape = (batches, sets, examples)
    first = _masked_choice(has_partner[:, None].expand(shape), generator)
    own = torch.arange(examples) == first[:, :, None]
    same = torch.gather(is_alike, 1, first[:, :, None].expand(shape))
    members = [first, _masked_choice(same & ~own, generator)]
    is_free = ~same
    for _ in range(k):
        if not is_free.any(dim=2).all():
            raise ValueError(
                f"a set with k={k} odd classes needs {k + 1} classes in its batch, but one batch "
                "holds fewer; use PairedBatchSampler with the same k, or lower k"
            )
        odd = _masked_choice(is_free, generator)
        members.append(odd)
        is_free = is_free & ~torch.gather(is_alike, 1, odd[:, :, None].expand(shape))
    return torch.stack(members, dim=2).reshape(*labels.shape[:-1], sets, k + 2)


def sets_of_pairs(
    labels: Int[Tensor, "batches examples"],
    *,
    sets: int,
    generator: torch.Generator | None = None,
) -> Int[Tensor, "batches sets 3"]:
    """Give each pair of a batch random odd examples of other classes, each with the same number.

    Like ``natural_sets`` with k = 1, but each drawn pair forms equally many sets, and the time does
    not depend on the size of a batch.

    Args:
        labels: Classes of the examples of each batch: examples 0 and 1 are a pair, 2 and 3, and so
            on; the last one may lack its partner. Each batch must hold 2 classes.
        sets: Number of sets of each batch; rounded down to a multiple of the pairs.
        generator: Source of randomness; torch's global one if not given.

    Example:
        >>> labels = torch.tensor([[0, 0, 1, 1, 0, 0]])
        >>> sets = sets_of_pairs(labels, sets=6, generator=torch.Generator().manual_seed(0))
        >>> sets[0, :, :2].tolist(), labels[0][sets[0, :, 2]].tolist()
        ([[0, 1], [0, 1], [2, 3], [2, 3], [4, 5], [4, 5]], [1, 1, 0, 0, 1, 1])
    """
    batches, examples = labels.shape
    pairs = examples // 2
    repeats = max(1, sets // pairs)
    ordered, order = labels.sort(dim=1)  # the examples of a class fill one contiguous run
    own = labels[:, : 2 * pairs : 2].repeat_interleave(repeats, dim=1).contiguous()
    start = torch.searchsorted(ordered, own)
    size = torch.searchsorted(ordered, own, right=True) - start
    if (size == examples).any():
        raise ValueError(
            "an odd example needs a second class in its batch, but one batch holds a single class; "
            "use PairedBatchSampler with k=1"
        )
    odd = below((examples - size).flatten(), (size.numel(),), generator).view_as(size)
    odd = torch.where(odd < start, odd, odd + size)  # skip the run of the pair's own class
    first = 2 * torch.arange(pairs).repeat_interleave(repeats).expand(batches, -1)
    return torch.stack([first, first + 1, order.gather(1, odd)], dim=2)


def _masked_choice(
    is_candidate: Bool[Tensor, "batches sets examples"], generator: torch.Generator | None
) -> Int[Tensor, "batches sets"]:
    """The position of a random candidate of each row."""
    keys = torch.rand(is_candidate.shape, generator=generator)
    return torch.where(is_candidate, keys, -1.0).argmax(dim=2)
