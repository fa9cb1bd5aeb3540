"""Clusters of classes whose scores are alike, which share a threshold (Ding et al., 2023)."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

# Levels at which the scores of classes are compared.
_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9)
_STEPS = 100
# Key of the random numbers; PredictionSets uses 0 to 2 for scores and ties.
STREAM = 3


@dataclass(frozen=True)
class Clusters:
    """Clusters of classes, found on a part of the calibration examples.

    Attributes:
        cluster_of: Cluster of each class. The classes with too few examples to be compared are
            cluster 0 together.
        is_used: Whether each example was used to find the clusters; the others calibrate them.
    """

    cluster_of: Int[ndarray, " classes"]
    is_used: Bool[ndarray, " examples"]


def clustered_classes(
    scores: Float[ndarray, " examples"],
    labels: Int[ndarray, " examples"],
    *,
    classes: int,
    alpha: float,
    seed: int,
) -> Clusters:
    """Cluster classes by the quantiles of their scores.

    As in "Class-conditional conformal prediction with many classes" (Ding et al., 2023): the share
    of examples that is spent on clustering and the number of clusters follow from the class sizes,
    and classes weigh as the square root of their size in k-means. One departure: classes with too
    few examples share a threshold of their own, where the paper uses that of all examples. So each
    cluster has the stated coverage.

    Args:
        scores: Score of the true class of each example.
        labels: Classes of the examples.
        classes: Number of classes.
        alpha: 1 minus the coverage.
        seed: Seed of the choice of examples and of k-means.
    """
    # A stream of its own: NumPy gives the seeds 7 and [7, 0] the same numbers, and examples that
    # were chosen by the numbers that randomise their scores would not be a random sample.
    rng = np.random.default_rng([seed, STREAM])
    sizes = np.bincount(labels, minlength=classes)
    needed = 1 / alpha - 1
    typical = max(int(sizes.min()), needed)
    large = int((sizes >= typical).sum())
    spent = large / (75 + large)
    is_used = rng.random(len(labels)) < spent
    own = np.bincount(labels[is_used], minlength=classes)
    compared = np.flatnonzero(own >= min(needed, _enough(alpha)))
    count = min(max(1, math.floor(spent * typical / 2)), len(compared))
    cluster_of = np.zeros(classes, dtype=np.int64)
    if count > 0:
        levels = [*_LEVELS, 1 - alpha]
        points = np.array(
            [
                np.quantile(scores[is_used & (labels == c)], levels, method="higher")
                for c in compared
            ]
        )
        cluster_of[compared] = 1 + weighted_k_means(
            points, weights=np.sqrt(own[compared]), clusters=count, rng=rng
        )
    return Clusters(cluster_of, is_used)


def _enough(alpha: float) -> float:
    """Examples from which the quantiles of a class can be compared."""
    return 1 / max(alpha, 0.1) - 1


def weighted_k_means(
    points: Float[ndarray, "points axes"],
    *,
    weights: Float[ndarray, " points"],
    clusters: int,
    rng: np.random.Generator,
) -> Int[ndarray, " points"]:
    """Assign points to clusters by Lloyd's algorithm, started as in k-means++.

    Example:
        >>> points = np.array([[0.0], [0.1], [5.0], [5.1]])
        >>> found = weighted_k_means(
        ...     points, weights=np.ones(4), clusters=2, rng=np.random.default_rng(0)
        ... )
        >>> bool(found[0] == found[1] != found[2] == found[3])
        True
    """
    centres = points[[rng.choice(len(points), p=weights / weights.sum())]]
    while len(centres) < clusters:
        gaps = weights * _squares(points, centres).min(axis=1)
        if gaps.sum() == 0:  # fewer distinct points than clusters
            break
        centres = np.vstack([centres, points[[rng.choice(len(points), p=gaps / gaps.sum())]]])
    nearest = _squares(points, centres).argmin(axis=1)
    for _ in range(_STEPS):
        for cluster in np.unique(nearest):
            mine = nearest == cluster
            centres[cluster] = np.average(points[mine], axis=0, weights=weights[mine])
        following = _squares(points, centres).argmin(axis=1)
        if (following == nearest).all():
            break
        nearest = following
    return np.asarray(nearest)


def _squares(
    points: Float[ndarray, "points axes"], centres: Float[ndarray, "clusters axes"]
) -> Float[ndarray, "points clusters"]:
    """Squared distances."""
    squares: Float[ndarray, "points clusters"] = (
        (points[:, None, :] - centres[None, :, :]) ** 2
    ).sum(axis=2)
    return squares
