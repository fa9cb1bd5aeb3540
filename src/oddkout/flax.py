"""Set learning for JAX: the set-sum head and loss, pure functions that jit, on Flax's NNX.

Sets are drawn by the same ``ClassIndex``, outside of jitted code, and go in as an array. Import it
by name, it needs JAX and Flax: ``from oddkout import flax as oko_flax``.
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

Targets = Literal["hard", "soft", "odd"]

# Which members of a set (pair, pair, odd ...) a head is asked to name.
_NAMED = {"hard": slice(0, 1), "soft": slice(None), "odd": slice(2, None)}


def draw_sets(
    index: ClassIndex, *, k: int, sets: int, generator: torch.Generator | None = None
) -> Int32[ndarray, "sets members"]:
    """Draw sets by a ``ClassIndex``, as an array that jitted code takes.

    Its shape depends on ``k`` and ``sets`` alone, so that nothing is compiled anew.

    Args:
        index: Where the examples of each class are, in a data set or in a pool.
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
    """Logits summed over the members of each set, in float32 at least.

    A position beyond the pool makes its sum NaN: jitted code cannot raise, and JAX would take the
    last example instead.

    Args:
        logits: Logits of a pool of examples.
        sets: Rows of positions into the pool.

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
    targets: Targets = "hard",
) -> Float[Array, ""]:
    """Cross-entropy of the logits summed over each set, averaged over the sets.

    Args:
        logits: Logits of a pool of examples.
        labels: Class of every example of the pool.
        sets: Rows of positions into the pool: the pair, then the odd members.
        targets: ``"hard"`` puts all mass on the pair class, ``"soft"`` spreads it over the
            members, ``"odd"`` over the odd ones: what the second head is asked for.

    Example:
        All logits equal: the summed prediction is uniform, so the loss is log(4).

        >>> labels, sets = np.array([0, 0, 1, 1]), np.array([[0, 1, 2], [2, 3, 0]])
        >>> round(float(jax.jit(set_loss)(jnp.zeros((4, 4)), labels, sets)), 4)
        1.3863
    """
    one_of("targets", targets, get_args(Targets))
    named = sets[:, _NAMED[targets]]
    if named.shape[1] == 0:
        raise ValueError(
            f"targets={targets!r} need an odd class to name, got sets of {sets.shape[1]} members; "
            "draw sets with k of at least 1"
        )
    log_probs = jax.nn.log_softmax(set_sum(logits, sets), axis=1)
    return -jnp.take_along_axis(log_probs, jnp.asarray(labels)[named], axis=1).mean()


class SetSumHead(nnx.Module):  # type: ignore[misc]  # where types are checked there is no Flax
    """A classifier on features, and beside it a head that names the odd class in training.

    Args:
        features: Number of features.
        classes: Number of classes.
        rngs: Source of the weights.

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
        """Logits of the classifier; the odd-class head is for training alone."""
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
        """Odd-k-out loss of a pool: that of the classifier, and of the odd-class head if weighted.

        Args:
            features: Features of the pool.
            labels: Class of every example of the pool.
            sets: Rows of positions into the pool: the pair, then the odd members.
            targets: ``"hard"`` or ``"soft"``, see ``set_loss``.
            odd_weight: Weight of the odd-class loss, which may change from step to step; without
                one that head is left alone.
        """
        named = set_loss(self.classifier(features), labels, sets, targets=targets)
        if odd_weight is None:
            return named
        return named + odd_weight * set_loss(self.odd(features), labels, sets, targets="odd")
