"""Algorithm 1 of the paper by enumeration: every set and its exact probability."""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product

import torch
from jaxtyping import Float64, Int64
from torch import Tensor


def set_probabilities(labels: Sequence[int], k: int) -> dict[tuple[int, ...], Fraction]:
    """Probability of every set that Algorithm 1 can draw; the pair comes first.

    Args:
        labels: Class of every example; every class has at least two.
        k: Number of odd classes.

    Example:
        >>> probability = set_probabilities([0, 0, 1, 1], 1)
        >>> len(probability), probability[0, 1, 2]
        (8, Fraction(1, 8))
    """
    members = examples_of(labels)
    probability: dict[tuple[int, ...], Fraction] = {}
    for pair_class in members:
        pairs = list(permutations(members[pair_class], 2))
        odd_choices = list(permutations(members.keys() - {pair_class}, k))
        for odd_classes in odd_choices:
            odds = list(product(*(members[odd_class] for odd_class in odd_classes)))
            one = Fraction(1, len(members) * len(odd_choices) * len(pairs) * len(odds))
            probability |= {(*pair, *odd): one for pair in pairs for odd in odds}
    return probability


def every_set(
    labels: Sequence[int], k: int
) -> tuple[Int64[Tensor, "sets members"], Float64[Tensor, " sets"]]:
    """All sets that Algorithm 1 can draw, as rows, and their probabilities."""
    probability = set_probabilities(labels, k)
    weights = [float(value) for value in probability.values()]
    return torch.tensor(list(probability)), torch.tensor(weights, dtype=torch.float64)


@cache  # optimisers call it thousands of times
def class_sets(classes: int, k: int) -> Int64[Tensor, "sets members"]:
    """The classes of every set (i, i, Y), Y being k classes other than i; all equally likely.

    Example:
        >>> class_sets(3, 1).tolist()
        [[0, 0, 1], [0, 0, 2], [1, 1, 0], [1, 1, 2], [2, 2, 0], [2, 2, 1]]
    """
    return torch.tensor(
        [
            (pair, pair, *odd)
            for pair in range(classes)
            for odd in combinations([c for c in range(classes) if c != pair], k)
        ]
    )


def examples_of(labels: Sequence[int]) -> dict[int, list[int]]:
    """The examples of each class."""
    members: dict[int, list[int]] = defaultdict(list)
    for example, label in enumerate(labels):
        members[label].append(example)
    return dict(members)
