"""Odd-k-out learning for JAX: set sum and set loss as pure functions, and a Flax NNX head.

All functions work under ``jax.jit`` except ``draw_sets``: ``ClassIndex`` draws the sets outside
jitted code, which takes them as an array. The module needs JAX and Flax, so import it explicitly:
``from oddkout import flax as oko_flax``.
"""

from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
import torch
from flax import nnx
from jax import Array
from jaxtyping import Float, Int, Int32
from numpy import ndarray

from oddkout.checks import Number, one_of
from oddkout.sets import ClassIndex

HeadTargets = Literal["hard", "soft", "odd"]

# The members of a set (pair, pair, odd ...) whose classes are the target.
_NAMED = {"hard": slice(0, 1), "soft": slice(None), "odd": slice(2, None)}


def draw_sets(
    index: ClassIndex, *, k: int, sets: int, generator: torch.Generator | None = None
) -> Int32[ndarray, "sets members"]:
    """Draw sets from a ``ClassIndex``, as an array for jitted code.

    Its shape depends on ``k`` and ``sets`` only, so jitted code is compiled once.

    Args:
        index: Index of a data set or of a pool.
        k: Number of odd classes in a set.
        sets: Number of sets.
        generator: Source of randomness; torch's global one if not given.

    Example:
        >>> draw_sets(ClassIndex([0, 0, 1, 1, 2, 2]), k=1, sets=8).shape
        (8, 3)
    """
    drawn: Int32[ndarray, "sets members"] = (
        index.draw_sets(k=k, sets=sets, generator=generator).numpy().astype(np.int32)
    )
    return drawn


def set_sum(
    logits: Float[Array, "examples classes"], sets: Int[Array | ndarray, "sets members"]
) -> Float[Array, "sets classes"]:
    """Sum the logits of the members of each set, at least in float32.

    A position outside the pool makes its sum NaN: jitted code cannot raise, and JAX would use the
    last example instead.

    Args:
        logits: Logits of a pool of examples.
        sets: Rows of positions in the pool.

    Example:
        >>> logits = jnp.array([[1.0, 0.0], [2.0, 0.0], [0.0, 5.0]])
        >>> set_sum(logits, np.array([[0, 1, 2]])).tolist()
        [[3.0, 5.0]]
    """
    exact = logits.astype(jnp.promote_types(logits.dtype, jnp.float32))
    members = exact.at[sets].get(mode="fill", fill_value=jnp.nan, wrap_negative_indices=False)
    return members.sum(axis=1)


def set_loss(
    logits: Float[Array, "examples classes"],
    labels: Int[Array | ndarray, " examples"],
    sets: Int[Array | ndarray, "sets members"],
    *,
    targets: HeadTargets = "hard",
) -> Float[Array, ""]:
    """Cross-entropy of the logits summed over each set, averaged over the sets.

    Args:
        logits: Logits of a pool of examples.
        labels: Class of each example of the pool.
        sets: Rows of positions in the pool: the pair, then the odd members.
        targets: ``"hard"`` puts all mass on the pair class. ``"soft"`` spreads it evenly over all
            members, ``"odd"`` over the odd members, for the odd-class head.

    Example:
        All logits equal: the summed prediction is uniform, so the loss is log(4).

        >>> labels, sets = np.array([0, 0, 1, 1]), np.array([[0, 1, 2], [2, 3, 0]])
        >>> round(float(jax.jit(set_loss)(jnp.zeros((4, 4)), labels, sets)), 4)
        1.3863
    """
    one_of("targets", targets, get_args(HeadTargets))
    named = sets[:, _NAMED[targets]]
    if named.shape[1] == 0:
        raise ValueError(
            f"targets={targets!r} need an odd class to predict, got sets of {sets.shape[1]} "
            "members; draw sets with k of at least 1"
        )
    log_probs = jax.nn.log_softmax(set_sum(logits, sets), axis=1)
    return -jnp.take_along_axis(log_probs, jnp.asarray(labels)[named], axis=1).mean()


class SetSumHead(nnx.Module):  # type: ignore[misc]  # Flax is not installed where mypy runs
    """A linear classifier, with a second head that predicts the odd class during training.

    Args:
        features: Number of features.
        classes: Number of classes.
        rngs: Source of the initial weights.

    Example:
        >>> head = SetSumHead(8, 3, rngs=nnx.Rngs(0))
        >>> labels = np.array([0, 0, 1, 1, 2, 2])
        >>> sets = draw_sets(ClassIndex(labels), k=1, sets=16)
        >>> head.loss(jnp.ones((6, 8)), labels, sets, odd_weight=1.0).shape
        ()
        >>> head(jnp.ones((6, 8))).shape  # at inference: an ordinary classifier
        (6, 3)
    """

    def __init__(self, features: int, classes: int, *, rngs: nnx.Rngs) -> None:
        self.classifier = nnx.Linear(features, classes, rngs=rngs)
        self.odd = nnx.Linear(features, classes, rngs=rngs)

    def __call__(self, features: Float[Array, "examples features"]) -> Float[Array, "examples _"]:
        """Logits of the classifier; the odd-class head is used in training only."""
        logits: Array = self.classifier(features)
        return logits

    def loss(
        self,
        features: Float[Array, "examples features"],
        labels: Int[Array | ndarray, " examples"],
        sets: Int[Array | ndarray, "sets members"],
        *,
        targets: Literal["hard", "soft"] = "hard",
        odd_weight: Number | Float[Array, ""] | None = None,
    ) -> Float[Array, ""]:
        """Odd-k-out loss of a pool, including the odd-class loss if it has a weight.

        Args:
            features: Features of the pool.
            labels: Class of each example of the pool.
            sets: Rows of positions in the pool: the pair, then the odd members.
            targets: ``"hard"`` or ``"soft"``, see ``set_loss``.
            odd_weight: Weight of the odd-class loss, which may change between steps. If not given,
                the odd-class head is not trained.
        """
        pair_loss = set_loss(self.classifier(features), labels, sets, targets=targets)
        if odd_weight is None:
            return pair_loss
        return pair_loss + odd_weight * set_loss(self.odd(features), labels, sets, targets="odd")
