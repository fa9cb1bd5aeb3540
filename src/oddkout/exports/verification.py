"""Is an exported file the classifier? Both are asked for the same probabilities."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from oddkout.fitting.classifier import Classifier

TOLERANCE = 1e-5
_BATCH = 256


class MismatchError(ValueError):
    """An exported file gives other probabilities than the classifier."""


def largest_difference(
    probabilities: Callable[[Any], Any],
    classifier: Classifier,
    x: Any,
    *,
    prior: Sequence[float] | None,
    kind: str,
) -> float:
    """Largest difference of any probability, or raise if it exceeds 1e-5.

    The file is asked for one example first and then for many at once: both must work.

    Args:
        probabilities: What the exported file says of examples.
        classifier: The classifier it was made of.
        x: Examples, as the classifier takes them.
        prior: Class frequencies that the file is for.
        kind: What to call the examples in an error.
    """
    expected = classifier.predict_proba(x, prior=prior)
    starts = [0, *range(1, len(expected), _BATCH), len(expected)]
    found = [probabilities(x[start:stop]) for start, stop in pairwise(starts)]
    difference = float(np.abs(np.concatenate(found) - expected).max())
    if not difference <= TOLERANCE:  # not: a NaN is refused, too
        raise MismatchError(
            f"the exported file must give the probabilities of the classifier to within "
            f"{TOLERANCE:g}, but differs by {difference:.2g} on {len(expected)} {kind} examples; "
            "nothing was written; a network whose outputs are huge or random cannot be exported"
        )
    return difference
