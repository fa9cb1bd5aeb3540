"""Checked inputs of decisions: probabilities in double precision, class frequencies, groups."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray

from oddkout.checks import Labels, Matrix, Number, Prior, few, frequencies
from oddkout.metrics.predictions import read
from oddkout.prior import class_frequencies


def share(name: str, value: Number) -> float:
    """Return ``value`` as a float, or raise unless it lies strictly between 0 and 1."""
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_number or not 0 < value < 1:
        raise ValueError(
            f"{name} must lie between 0 and 1, both excluded, got {value!r}; write 90 % as 0.9"
        )
    return float(value)


def probabilities(
    logits: Matrix = None, *, probs: Matrix = None, classes: int | None = None
) -> Float[ndarray, "examples classes"]:
    """Probabilities from logits or probabilities, in double precision; rows sum to 1.

    Args:
        logits: Logits, of shape (examples, classes).
        probs: Probabilities, instead of ``logits``.
        classes: Required number of classes; any if not given.
    """
    rows = read(probs=probs, logits=logits, has_labels=False)
    if classes is not None and rows.shape[1] != classes:
        raise ValueError(
            f"predictions must have a column for each of the {classes} classes that were fitted, "
            f"got {rows.shape[1]}; a class that was not fitted cannot be decided on: fit again "
            "with examples of it"
        )
    values = rows.values.double()
    values = values.softmax(dim=1) if rows.are_logits else values / values.sum(dim=1, keepdim=True)
    return np.asarray(values.cpu())


def labelled(
    logits: Matrix, labels: Labels, *, probs: Matrix
) -> tuple[Float[ndarray, "examples classes"], Int[ndarray, " examples"]]:
    """Probabilities and labels of the same examples."""
    checked = read(probs=probs, logits=logits, labels=labels)
    return probabilities(logits, probs=probs), np.asarray(checked.true_classes.cpu())


def codes(name: str, values: Any, *, examples: int) -> Int[ndarray, " examples"]:
    """Number the distinct values from 0, or raise unless there is one for every example.

    Example:
        >>> codes("groups", ["b", "a", "b"], examples=3).tolist()
        [1, 0, 1]
    """
    given = np.asarray(values.cpu() if isinstance(values, torch.Tensor) else values)
    if given.ndim != 1 or len(given) != examples:
        raise ValueError(
            f"{name} must hold one value for each of the {examples} examples, got shape "
            f"{given.shape}; pass them in the order of the rows"
        )
    return np.unique(given, return_inverse=True)[1].astype(np.int64)


class PriorShift:
    """A known change of the class frequencies, from calibration examples to where one decides.

    Args:
        labels: Classes of the calibration examples.
        classes: Number of classes.
        prior: Class frequencies where one decides; None for no change.
        train_prior: Class frequencies that the probabilities are for; by default those of the
            labels.
    """

    def __init__(
        self,
        labels: Int[ndarray, " examples"],
        *,
        classes: int,
        prior: Prior = None,
        train_prior: Prior = None,
    ) -> None:
        self.is_shifted = prior is not None
        observed = class_frequencies(labels, classes=classes).numpy()
        # Weight of an example of each class.
        self.weights = np.ones(classes)
        self._factors = np.ones(classes)
        if train_prior is not None and prior is None:
            raise ValueError(
                "train_prior says what prior changes, but no prior is given; pass both or neither"
            )
        if prior is not None:
            wanted = frequencies("prior", prior, classes=classes).numpy()
            assumed = (
                observed
                if train_prior is None
                else frequencies("train_prior", train_prior, classes=classes).numpy()
            )
            self.weights = wanted / observed
            self._factors = wanted / assumed

    def moved(
        self, probs: Float[ndarray, "*examples classes"]
    ) -> Float[ndarray, "*examples classes"]:
        """Probabilities for the new class frequencies, by Bayes' rule."""
        if not self.is_shifted:
            return probs
        joint = probs * self._factors
        return np.asarray(joint / joint.sum(axis=-1, keepdims=True))


def named(classes: Any, count: int) -> tuple[str, ...]:
    """Names of the classes; their numbers if none are given."""
    if classes is None:
        return tuple(str(number) for number in range(count))
    names = tuple(str(name) for name in classes)
    if len(names) != count or len(set(names)) != count:
        raise ValueError(
            f"classes must be {count} different names, one per column of the predictions, got "
            f"{few(names)}"
        )
    return names


def percent(value: float) -> str:
    """A share in percent, without needless digits.

    Example:
        >>> percent(0.9), percent(0.995), percent(0.0712)
        ('90 %', '99.5 %', '7.12 %')
    """
    return f"{100 * value:.3g} %"
