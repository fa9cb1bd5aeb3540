"""Compare the probabilities of an exported file with those of the classifier."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from oddkout.fitting.classifier import Classifier

TOLERANCE = 1e-5
_BATCH = 256


class MismatchError(ValueError):
    """The probabilities of an exported file differ from those of the classifier."""


def largest_difference(
    probabilities: Callable[[Any], Any],
    classifier: Classifier,
    x: Any,
    *,
    prior: Sequence[float] | None,
    kind: str,
) -> float:
    """Largest difference of any probability, or raise if it exceeds 1e-5.

    The file predicts one example first and then many at once: both must work.

    Args:
        probabilities: The exported file, as a function from examples to probabilities.
        classifier: The classifier that was exported.
        x: Examples, as for ``predict_proba``.
        prior: Class frequencies that the file was exported for.
        kind: Name of the examples in error messages.
    """
    expected = classifier.predict_proba(x, prior=prior)
    starts = [0, *range(1, len(expected), _BATCH), len(expected)]
    exported = [probabilities(x[start:stop]) for start, stop in pairwise(starts)]
    difference = float(np.abs(np.concatenate(exported) - expected).max())
    if not difference <= TOLERANCE:  # "not <=", so that NaN raises, too
        raise MismatchError(
            f"the exported file must give the probabilities of the classifier to within "
            f"{TOLERANCE:g}, but differs by {difference:.2g} on {len(expected)} {kind} examples; "
            "nothing was written; a network whose outputs are huge or random cannot be exported"
        )
    return difference
