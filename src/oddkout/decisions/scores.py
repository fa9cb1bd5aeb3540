"""Conformity scores: how badly each class fits an example, by its probabilities."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from oddkout.checks import one_of

SCORES = ("aps", "raps", "lac")

# RAPS: what each rank beyond the free ones adds to the score.
PENALTY = 0.1
FREE_RANKS = 2

# Sums of the same probabilities in another order are equal up to here, and count as ties.
_DIGITS = 12


def conformity_scores(
    probs: Float[ndarray, "examples classes"],
    *,
    score: str,
    uniforms: Float[ndarray, " examples"] | None = None,
) -> Float[ndarray, "examples classes"]:
    """Score of every class for every example; a higher score is a worse fit.

    ``"lac"`` (Sadinle et al., 2019) is 1 minus the probability of the class. ``"aps"`` (Romano et
    al., 2020) is the probability of all classes that are at least as probable, the class included.
    ``"raps"`` (Angelopoulos et al., 2021) adds 0.1 for each rank beyond the second, so that sets
    hold fewer improbable classes.

    Args:
        probs: Class probabilities.
        score: Name of the score.
        uniforms: Numbers from 0 to 1, one per example, for the randomised APS and RAPS: this share
            of the probability of the class itself is subtracted. By default none of it.

    Example:
        >>> probs = np.array([[0.6, 0.3, 0.1]])
        >>> conformity_scores(probs, score="aps").tolist()
        [[0.6, 0.9, 1.0]]
        >>> conformity_scores(probs, score="raps").tolist()
        [[0.6, 0.9, 1.1]]
        >>> conformity_scores(probs, score="lac").tolist()
        [[0.4, 0.7, 0.9]]
    """
    one_of("score", score, SCORES)
    if score == "lac":
        return np.round(1 - probs, _DIGITS)
    order = np.argsort(-probs, axis=1, kind="stable")
    ranks = np.argsort(order, axis=1, kind="stable")
    mass = np.take_along_axis(probs, order, axis=1).cumsum(axis=1)
    scores = np.take_along_axis(mass, ranks, axis=1)
    if uniforms is not None:
        scores = scores - uniforms[:, None] * probs
    if score == "raps":
        scores = scores + PENALTY * np.maximum(ranks + 1 - FREE_RANKS, 0)
    return np.round(scores, _DIGITS)
