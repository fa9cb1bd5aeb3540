"""Checks of the labels and arguments of the estimator."""

from typing import Any

import numpy as np
from jaxtyping import Shaped
from numpy import ndarray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from oddkout.checks import at_least, few
from oddkout.fitting.methods import Method, chosen_method
from oddkout.fitting.requirements import refuse_few_classes


def refuse_weights(given: dict[str, Any]) -> None:
    """Raise if ``fit`` got further arguments, such as ``sample_weight``."""
    if given:
        raise ValueError(
            f"fit takes only X and y, got {few(list(given))}; sets are drawn by class and cannot "
            "weight single examples: leave sample_weight out, and use prior= to set the class "
            "frequencies"
        )


def trainable_method(name: str, k: Any) -> Method:
    """The method of this name with this k, or raise."""
    return chosen_method(name, k=None if k is None else at_least("k", k, 0))


def trainable_labels(x: Any, y: Any, method: Method) -> Shaped[ndarray, " examples"]:
    """The labels as an array, or raise if the method cannot be trained with them."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    labels: Shaped[ndarray, " examples"] = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    check_consistent_length(x, labels)
    refuse_few_classes(np.unique(labels).tolist(), method)
    return labels
