"""What decisions of a contestant promise, and what the test parts of all seeds say."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from oddkout.comparing.comparison import Comparison
from oddkout.comparing.example_values import TRIED
from oddkout.comparing.run import Run
from oddkout.decisions.trial import RISKS
from oddkout.metrics.confusion import confusion_matrix


def class_sets(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Coverage and size of the sets of each class, means over the seeds that test it.

    ``always`` is the number of seeds in which the class is in every set, for want of examples.

    Args:
        runs: Runs of one contestant, with a trial of decisions.
    """
    rows = []
    for number, name in enumerate(runs[0].classes):
        mine = [run.sets[run.labels == number] for run in runs if run.sets is not None]
        known = [part for part in mine if len(part)]
        rows.append(
            {
                "class": name,
                "examples": sum(len(part) for part in mine) / len(runs),
                "coverage": _mean([part[:, number].mean() for part in known]),
                "size": _mean([part.sum(axis=1).mean() for part in known]),
                "always": sum(name in run.promises["sets"]["always"] for run in runs),
            }
        )
    return rows


def answered_errors(runs: Sequence[Run]) -> list[float | None]:
    """Share of wrong answers among the answered test cases of all seeds, at each of ``RISKS``."""
    shares: list[float | None] = []
    for column in range(len(RISKS)):
        wrong = [
            run.test_logits(is_tempered=True).argmax(axis=1)[run.answered[:, column]]
            != run.labels[run.answered[:, column]]
            for run in runs
            if run.answered is not None and run.labels is not None
        ]
        together = np.concatenate(wrong)
        shares.append(float(together.mean()) if len(together) else None)
    return shares


def mean_confusion(runs: Sequence[Run]) -> Float[ndarray, "classes classes"]:
    """Test cases of each true class (row) by predicted class (column), means over seeds."""
    counts = [
        confusion_matrix(logits=run.test_logits(is_tempered=True), labels=run.labels).numpy()
        for run in runs
    ]
    return np.asarray(np.mean(counts, axis=0))


def decision_record(comparison: Comparison, method: str) -> dict[str, Any]:
    """Everything about the decisions of a contestant as plain values.

    Args:
        method: Name of a contestant whose runs have a trial of decisions.
    """
    runs = comparison.by_method[method]
    means = {name: comparison.mean(method, name, is_tempered=True) for name in TRIED}
    return {
        "test": {name: interval.to_dict() for name, interval in means.items()},
        "classes": class_sets(runs),
        "wrong_answers": dict(zip(TRIED[2:], answered_errors(runs), strict=True)),
        "confusion": mean_confusion(runs).tolist(),
        "promises": runs[0].promises,
    }


def _mean(values: Sequence[Any]) -> float | None:
    return float(np.mean(values)) if values else None
