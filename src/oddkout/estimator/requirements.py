"""Checks of the labels and arguments of the estimator."""

from typing import Any

import numpy as np
from jaxtyping import Int64, Shaped
from numpy import ndarray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from oddkout.checks import at_least, few, one_of
from oddkout.fitting.methods import METHODS, Method, chosen_method
from oddkout.fitting.requirements import refuse_few_classes


def refuse_weights(given: dict[str, Any]) -> None:
    """Raise if ``fit`` got further arguments, such as ``sample_weight``."""
    if given:
        raise ValueError(
            f"fit takes only X, y and groups, got {few(list(given))}; a weight of 2 would have to "
            "equal a repeated example, which folds and sets cannot guarantee: leave sample_weight "
            "out, and use prior= to set the class frequencies"
        )


def trainable_method(name: str, k: Any) -> tuple[Method, tuple[str, ...]]:
    """The method of this name with this k, or raise; and notes.

    A k for a method that draws no sets is ignored with a note, so that a grid search may combine
    values of k with any method.
    """
    one_of("method", name, METHODS)
    if k is not None and METHODS[name].loss != "sets" and not METHODS[name].is_for_tables:
        return METHODS[name], (f"{name} draws no sets, so that k={k} has no effect",)
    return chosen_method(name, k=None if k is None else at_least("k", k, 0)), ()


def trainable_labels(x: Any, y: Any, method: Method) -> Shaped[ndarray, " examples"]:
    """The labels as an array, or raise if the method cannot be trained with them."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    labels: Shaped[ndarray, " examples"] = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    check_consistent_length(x, labels)
    refuse_few_classes(np.unique(labels).tolist(), method)
    return labels


def group_numbers(groups: Any, *, examples: int) -> Int64[ndarray, " examples"] | None:
    """The group of each example as a number; None without groups."""
    if groups is None:
        return None
    given = column_or_1d(groups)
    if len(given) != examples:
        raise ValueError(
            f"groups must name the group of each of the {examples} examples, got {len(given)}"
        )
    _, numbers = np.unique(given, return_inverse=True)
    return numbers.astype(np.int64)
