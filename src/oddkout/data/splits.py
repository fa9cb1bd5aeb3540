"""Imbalanced subsets and stratified splits, as indices that depend on a seed."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from jaxtyping import Int64
from numpy import ndarray

from oddkout.checks import Labels, Number, at_least, class_labels, one_of

Distribution = Literal["uniform", "heavy-tailed", "exponential"]


def subset(
    labels: Labels,
    *,
    per_class: int | None = None,
    examples: int | None = None,
    distribution: Distribution = "uniform",
    seed: int = 0,
    frequent_classes: int = 3,
    frequent_mass: Number = 0.9,
    minimum: int = 5,
    imbalance: Number = 100,
) -> Int64[ndarray, " chosen"]:
    """Indices of a random subset with the given class distribution, ascending.

    * ``"uniform"``: the same number of examples of each class.
    * ``"heavy-tailed"``, as in the paper: ``frequent_classes`` random classes share
      ``frequent_mass`` of the probability evenly, the other classes share the rest. Counts are
      drawn from this multinomial distribution. Counts below ``minimum`` are raised to it, at the
      expense of the largest.
    * ``"exponential"``, as in the long-tail literature (Cui et al., CVPR 2019): class c of C has
      ``imbalance ** (-c / (C - 1))`` times as many examples as class 0, rounded down.

    If a heavy-tailed count exceeds the examples of its class, the excess is drawn from the other
    classes. The same seed gives the same indices on every platform.

    Args:
        labels: Class of each example.
        per_class: Number of examples of each class (the mean for ``"heavy-tailed"``, that of the
            largest class for ``"exponential"``).
        examples: Total number of examples, instead of ``per_class``.
        distribution: ``"uniform"``, ``"heavy-tailed"`` or ``"exponential"``.
        seed: Seed of all randomness.
        frequent_classes: Number of frequent classes in ``"heavy-tailed"``.
        frequent_mass: Share of the examples in the frequent classes.
        minimum: Least number of examples of a class in ``"heavy-tailed"``.
        imbalance: Size of the largest class over that of the smallest in ``"exponential"``.

    Example:
        >>> labels = np.repeat([0, 1, 2], 100)
        >>> np.bincount(labels[subset(labels, per_class=4)]).tolist()
        [4, 4, 4]
        >>> long_tail = subset(labels, per_class=100, distribution="exponential", imbalance=100)
        >>> np.bincount(labels[long_tail]).tolist()
        [100, 10, 1]
    """
    one_of("distribution", distribution, get_args(Distribution))
    given = class_labels(labels).numpy()
    classes, class_of, available = np.unique(given, return_inverse=True, return_counts=True)
    if per_class is not None and examples is None:
        total = at_least("per_class", per_class, 1) * len(classes)
    elif examples is not None and per_class is None:
        total = at_least("examples", examples, 1)
    else:
        raise ValueError(
            f"give either per_class or examples, got {per_class=} and {examples=}; per_class is "
            "the number of each class, examples the total number"
        )
    keys = np.random.PCG64([seed, len(given)])  # raw bits do not change between NumPy versions
    if distribution == "uniform":
        counts = np.full(len(classes), total // len(classes))
        counts[_shuffled(len(classes), keys)[: total % len(classes)]] += 1
    elif distribution == "heavy-tailed":
        counts = _heavy_tailed_counts(
            available,
            total,
            keys,
            frequent=at_least("frequent_classes", frequent_classes, 1),
            mass=frequent_mass,
            minimum=at_least("minimum", minimum, 0),
        )
    else:
        counts = _exponential_counts(len(classes), per_class, total, imbalance)
    is_short = counts > available
    if is_short.any():
        first = int(np.argmax(is_short))
        raise ValueError(
            f"{counts[first]} examples of class {classes[first]} are asked for, but the data hold "
            f"{available[first]}; ask for fewer or give that class more"
        )
    order = _shuffled(len(given), keys)
    order = order[np.argsort(class_of[order], kind="stable")]  # by class, random within a class
    starts = np.cumsum(available) - available
    chosen = [order[start : start + n] for start, n in zip(starts, counts, strict=True)]
    return np.sort(np.concatenate(chosen)).astype(np.int64)


def split(
    labels: Labels, *, fraction: Number, seed: int = 0
) -> tuple[Int64[ndarray, " first"], Int64[ndarray, " second"]]:
    """Indices of a stratified split, both parts ascending.

    The second part holds ``fraction`` of each class. A class of at least two examples is in both
    parts, a class of one example in the first.

    Args:
        labels: Class of each example.
        fraction: Share of the second part, between 0 and 1.
        seed: Seed of all randomness.

    Example:
        >>> first, second = split([0, 0, 0, 0, 1, 1, 2], fraction=0.25)
        >>> len(first), len(second)
        (5, 2)
    """
    if not 0 < fraction < 1:
        raise ValueError(f"the fraction of a split must lie between 0 and 1, got {fraction}")
    given = class_labels(labels).numpy()
    order = _shuffled(len(given), np.random.PCG64([seed, len(given)]))
    is_second = np.zeros(len(given), dtype=bool)
    for label in np.unique(given):
        members = order[given[order] == label]
        if len(members) > 1:
            taken = min(max(round(fraction * len(members)), 1), len(members) - 1)
            is_second[members[:taken]] = True
    return np.flatnonzero(~is_second), np.flatnonzero(is_second)


def grouped_parts(
    labels: Labels, groups: Labels, *, shares: Sequence[Number], seed: int = 0
) -> Int64[ndarray, " examples"]:
    """Assign whole groups to parts, so that every part has its share of each class, nearly.

    Groups are taken in random order, those with many examples first; each goes to the part that
    needs its classes most.

    Args:
        labels: Class of each example.
        groups: Group of each example, such as the patient.
        shares: Share of each part; they sum to 1.
        seed: Seed of the order.

    Returns:
        The part of each example.

    Example:
        >>> parts = grouped_parts([0, 0, 1, 1], [7, 7, 8, 8], shares=[0.5, 0.5])
        >>> bool(parts[0] == parts[1] and parts[2] == parts[3])
        True
    """
    classes, class_of = np.unique(class_labels(labels).numpy(), return_inverse=True)
    names, group_of = np.unique(class_labels(groups).numpy(), return_inverse=True)
    counts = np.zeros((len(names), len(classes)))
    np.add.at(counts, (group_of, class_of), 1)
    relative = counts / counts.sum(axis=0)
    order = _shuffled(len(names), np.random.PCG64([seed, len(names)]))
    order = order[np.argsort(-counts[order].sum(axis=1), kind="stable")]
    target = np.asarray(shares, dtype=float)[:, None]
    filled = np.zeros((len(shares), len(classes)))
    part_of = np.zeros(len(names), dtype=np.int64)
    for group in order:
        # By how much the squared distance to the target changes if a part takes the group.
        change = (relative[group] * (relative[group] + 2 * (filled - target))).sum(axis=1)
        part = int(np.argmin(change))
        part_of[group] = part
        filled[part] += relative[group]
    assigned: Int64[ndarray, " examples"] = part_of[group_of]
    return assigned


def last_split(
    examples: int, *, fraction: Number = 0.2
) -> tuple[Int64[ndarray, " first"], Int64[ndarray, " second"]]:
    """Indices of the first examples and of the last ``fraction``: the paper's validation split."""
    if not 0 < fraction < 1:
        raise ValueError(f"the fraction of a split must lie between 0 and 1, got {fraction}")
    cut = examples - round(fraction * at_least("examples", examples, 2))
    return np.arange(cut), np.arange(cut, examples)


def _heavy_tailed_counts(
    available: Int64[ndarray, " classes"],
    total: int,
    keys: np.random.PCG64,
    *,
    frequent: int,
    mass: Number,
    minimum: int,
) -> Int64[ndarray, " classes"]:
    """Multinomial counts between ``minimum`` and ``available`` that sum to ``total``."""
    classes = len(available)
    if frequent >= classes or not 0 < mass < 1:
        raise ValueError(
            f"frequent_classes must be fewer than the {classes} classes and frequent_mass between "
            f"0 and 1, got {frequent} and {mass}"
        )
    if total > available.sum() or total < minimum * classes or available.min() < minimum:
        raise ValueError(
            f"{total} examples with at least {minimum} of each of {classes} classes are asked for, "
            f"but the classes hold {available.min()} to {available.max()}, {available.sum()} in "
            "all; change examples or minimum"
        )
    shares = np.full(classes, (1 - mass) / (classes - frequent))
    shares[_shuffled(classes, keys)[:frequent]] = mass / frequent
    counts = np.zeros(classes, dtype=np.int64)
    while (missing := total - counts.sum()) > 0:
        room = np.where(counts < available, shares, 0.0)
        uniform = (keys.random_raw(int(missing)) >> 11) * 2.0**-53
        drawn = np.searchsorted(np.cumsum(room) / room.sum(), uniform, side="right")
        counts += np.bincount(np.minimum(drawn, classes - 1), minlength=classes)
        counts = np.minimum(counts, available)
    counts = np.maximum(counts, minimum)
    while counts.sum() > total:
        counts[np.argmax(counts)] -= 1
    return counts


def _exponential_counts(
    classes: int, per_class: int | None, total: int, imbalance: Number
) -> Int64[ndarray, " classes"]:
    """Counts that fall by a constant factor from class to class."""
    if not imbalance >= 1:
        raise ValueError(
            f"imbalance, the largest class over the smallest, must be at least 1, got {imbalance}"
        )
    decay = float(imbalance) ** (-np.arange(classes) / max(classes - 1, 1))
    largest = total / decay.sum() if per_class is None else per_class
    # The factor makes 5000 * 0.01 round down to 50, and not to 49 because of the last bit.
    return np.maximum((largest * decay * (1 + 1e-12)).astype(np.int64), 1)


def _shuffled(count: int, keys: np.random.PCG64) -> Int64[ndarray, " count"]:
    """The integers below ``count`` in random order, from raw bits and a stable sort."""
    return np.argsort(keys.random_raw(count), kind="stable")
