"""What the estimator requires of labels and arguments."""

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
    """Raise if anything but examples and classes was given to train with."""
    if given:
        raise ValueError(
            f"training takes examples and classes only, got {few(list(given))}; sets are drawn by "
            "class, whatever the weight of an example: leave sample_weight out, and say with "
            "prior= how frequent the classes are"
        )


def trainable_method(name: str, k: Any) -> Method:
    """The method, or raise if there is none of this name and k."""
    return chosen_method(name, k=None if k is None else at_least("k", k, 0))


def trainable_labels(x: Any, y: Any, method: Method) -> Shaped[ndarray, " examples"]:
    """One label for each example, or raise if the method cannot learn from them."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    labels: Shaped[ndarray, " examples"] = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    check_consistent_length(x, labels)
    refuse_few_classes(np.unique(labels).tolist(), method)
    return labels
