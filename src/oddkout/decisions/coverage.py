"""Coverage and size of prediction sets, on examples whose class is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool
from numpy import ndarray

from oddkout.checks import Labels, matching_labels
from oddkout.decisions.inputs import named
from oddkout.metrics.intervals import clopper_pearson


@dataclass(frozen=True)
class SetCoverage:
    """How often sets hold the true class, and how large they are.

    Attributes:
        name: Name of the class; empty for all examples.
        examples: Number of examples.
        coverage: Share of them whose set holds the true class; NaN without examples.
        interval: Its exact 95 % confidence interval.
        size: Mean number of classes in a set.
        empty: Share of empty sets.
    """

    name: str
    examples: int
    coverage: float
    interval: tuple[float, float]
    size: float
    empty: float


def set_coverage(
    sets: Bool[ndarray, "examples classes"], labels: Labels, *, classes: Sequence[str] | None = None
) -> list[SetCoverage]:
    """Measure prediction sets: all examples first, then those of each class.

    Args:
        sets: Whether each class is in the set, as ``PredictionSets.predict`` returns it.
        labels: True classes.
        classes: Names of the classes.

    Example:
        >>> sets = np.array([[True, False], [True, True]])
        >>> overall, *_ = set_coverage(sets, [0, 1])
        >>> overall.coverage, overall.size
        (1.0, 1.5)
    """
    truth = matching_labels(labels, examples=len(sets), classes=sets.shape[1]).cpu().numpy()
    names = named(classes, sets.shape[1])
    is_hit = sets[np.arange(len(truth)), truth]
    parts = [("", np.ones(len(truth), bool)), *((n, truth == c) for c, n in enumerate(names))]
    found = []
    for name, mine in parts:
        count, hits = int(mine.sum()), int(is_hit[mine].sum())
        low, high = clopper_pearson(hits, count)
        sizes = sets[mine].sum(axis=1)
        found.append(
            SetCoverage(
                name=name,
                examples=count,
                coverage=hits / count if count else float("nan"),
                interval=(float(low), float(high)),
                size=float(sizes.mean()) if count else float("nan"),
                empty=float((sizes == 0).mean()) if count else float("nan"),
            )
        )
    return found
