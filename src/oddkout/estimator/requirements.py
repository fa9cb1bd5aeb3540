"""What training needs of settings and labels, and what a user should know of those it got."""

from typing import Any

import numpy as np
from jaxtyping import Int64, Shaped
from numpy import ndarray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from oddkout.checks import Number, at_least, few, one_of
from oddkout.estimator.held_out import ENOUGH
from oddkout.fitting.methods import Method, chosen_method


def refuse_weights(given: dict[str, Any]) -> None:
    """Raise if anything but examples and classes was given to train with."""
    if given:
        raise ValueError(
            f"training takes examples and classes only, got {few(list(given))}; sets are drawn by "
            "class, whatever the weight of an example: leave sample_weight out, and say with "
            "prior= how frequent the classes are"
        )


def check_settings(*, learning_rate: Any, validation_fraction: Any, calibrate: Any) -> None:
    """Raise if a setting cannot be; the arguments are those of ``OddKOutClassifier``."""
    if calibrate is not False:
        one_of("calibrate", calibrate, ("validation", "folds"))
    if not learning_rate > 0:
        raise ValueError(f"learning_rate must be a positive number, got {learning_rate}")
    if not 0 <= validation_fraction < 1:
        raise ValueError(
            f"validation_fraction must lie from 0 to below 1, got {validation_fraction}; 0 holds "
            "nothing out"
        )


def trainable_method(name: str, k: Any) -> Method:
    """The method, or raise if there is none of this name and k."""
    method = chosen_method(name, k=None if k is None else at_least("k", k, 0))
    if method.temperature == "fit":
        raise ValueError(
            f"{name} is bb with a fitted temperature; ask for method='bb' and "
            "calibrate='validation' or 'folds'"
        )
    return method


def trainable_labels(x: Any, y: Any, method: Method) -> Shaped[ndarray, " examples"]:
    """One label for each example, or raise if the method cannot learn from them."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    labels: Shaped[ndarray, " examples"] = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    check_consistent_length(x, labels)
    classes = np.unique(labels)
    needed = max(2, method.k + 1)
    if len(classes) < needed:
        raise ValueError(
            f"{method.name} with k={method.k} needs at least {needed} classes, got "
            f"{len(classes)} class(es), {few(classes.tolist())}"
            + ("; lower k" if len(classes) > 1 else ": there is nothing to tell apart")
        )
    return labels


def notes_on(
    y: Int64[ndarray, " examples"],
    classes: Shaped[ndarray, " classes"],
    *,
    fraction: Number,
    held_out: int,
) -> tuple[str, ...]:
    """What a user should know of a fit, a sentence each.

    Args:
        y: Class of every example, as a position in ``classes``.
        classes: Names of the classes.
        fraction: Share of the examples that was to be held out.
        held_out: Number of examples that were.
    """
    notes = []
    if not held_out:
        notes.append(
            f"no examples were held out: early stopping needs {ENOUGH} of them, and a fraction of "
            f"{fraction} of {len(y)} examples are fewer; the last state was kept"
        )
    present, counts = np.unique(y, return_counts=True)
    if lonely := classes[present[counts == 1]].tolist():
        notes.append(
            f"classes {few(lonely)} have a single example, which forms pairs with itself; how such "
            "a class varies cannot be learned"
        )
    return tuple(notes)
