"""Which examples a classifier is judged by and not trained on, as indices."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Int64
from numpy import ndarray

from oddkout.calibrators import fold_numbers
from oddkout.checks import Number
from oddkout.data import split
from oddkout.randomness import keyed_generator

# With fewer, chance alone chooses the state and the temperature.
ENOUGH = 100

Part = Int64[ndarray, "_"]


def validation_part(
    labels: Int64[ndarray, " examples"], *, fraction: Number, seed: int
) -> tuple[Part, Part]:
    """Indices to train on and to validate by; none of the latter where they would be too few.

    Args:
        labels: Class of every example.
        fraction: Share of every class to hold out, from 0 and below 1.
        seed: Key of all randomness.

    Example:
        >>> [len(part) for part in validation_part(np.arange(2000) % 2, fraction=0.1, seed=0)]
        [1800, 200]
        >>> [len(part) for part in validation_part(np.arange(200) % 2, fraction=0.1, seed=0)]
        [200, 0]
    """
    if len(labels) * fraction < ENOUGH:
        return np.arange(len(labels)), np.arange(0)
    return split(labels, fraction=fraction, seed=seed)


def folds_of(
    labels: Int64[ndarray, " examples"], *, folds: int, seed: int
) -> Iterator[tuple[Part, Part]]:
    """Indices to train on and to predict, for one fold after the other.

    A class of one example is trained on in every fold and predicted in none: a model that never
    saw a class tells nothing of one that did.

    Args:
        labels: Class of every example.
        folds: Number of folds; fewer where there are fewer examples.
        seed: Key of all randomness.

    Example:
        >>> sorted(second.tolist() for _, second in folds_of(np.array([0, 1, 1]), folds=5, seed=0))
        [[1], [2]]
    """
    scored = np.flatnonzero(np.bincount(labels)[labels] > 1)
    folds = min(folds, len(scored))
    fold_of = np.full(len(labels), -1)
    fold_of[scored] = fold_numbers(
        labels[scored], folds=folds, generator=keyed_generator(seed, 5)
    ).numpy()
    for fold in range(folds):
        yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
