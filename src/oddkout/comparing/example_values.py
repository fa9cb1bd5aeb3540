"""The value of each test example, for metrics that are means over examples."""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from oddkout.comparing.run import Run
from oddkout.decisions.costing import paid_costs
from oddkout.decisions.trial import RISKS
from oddkout.evaluation.weighting import class_weights_for

# Metrics of a trial of decisions: sets, and the share of answers at each of RISKS.
TRIED = ("set_coverage", "set_size", *(f"answered_{round(100 * risk)}" for risk in RISKS))


def example_values(run: Run, metric: str, *, is_tempered: bool) -> Float[ndarray, " examples"]:
    """The value of each test example, whose mean is the metric; see ``LOSSES``.

    If the user requested class frequencies, examples are weighted so that classes have them, and
    the values vary around the weighted mean as much as they contribute to its variance: within
    their class, since class frequencies are given.
    """
    logits = run.test_logits(is_tempered=is_tempered).astype(np.float64)
    assert run.labels is not None, "a run with logits has labels"
    values = LOSSES[metric](run, logits, run.labels)
    if not isinstance(run.config.population, tuple):
        return values
    labels = torch.from_numpy(run.labels.astype(np.int64))
    weights = class_weights_for(labels, run.config.population).numpy()
    mean = (weights * values).mean()
    sizes = np.bincount(run.labels)
    centres = np.bincount(run.labels, weights=values) / np.maximum(sizes, 1)
    size, centre = sizes[run.labels], centres[run.labels]
    spread = np.sqrt(size / np.maximum(size - 1, 1)) * (values - centre)
    # A class of one example says nothing of its own spread.
    shifts = weights * np.where(size > 1, spread, values - mean)
    contributions: Float[ndarray, " examples"] = mean + shifts - shifts.mean()
    return contributions


def _nll(run: Run, logits: ndarray, labels: ndarray) -> Float[ndarray, " examples"]:
    top = logits.max(axis=1, keepdims=True)
    total = np.log(np.exp(logits - top).sum(axis=1)) + top[:, 0]
    losses: Float[ndarray, " examples"] = total - logits[np.arange(len(labels)), labels]
    return losses


def _hits(run: Run, logits: ndarray, labels: ndarray) -> Float[ndarray, " examples"]:
    hits: Float[ndarray, " examples"] = (logits.argmax(axis=1) == labels).astype(np.float64)
    return hits


def _brier(run: Run, logits: ndarray, labels: ndarray) -> Float[ndarray, " examples"]:
    probs = np.exp(logits - logits.max(axis=1, keepdims=True))
    probs /= probs.sum(axis=1, keepdims=True)
    probs[np.arange(len(labels)), labels] -= 1
    squares: Float[ndarray, " examples"] = np.square(probs).sum(axis=1)
    return squares


def _set_hits(run: Run, logits: ndarray, labels: ndarray) -> Float[ndarray, " examples"]:
    assert run.sets is not None, "only metrics of a stored trial are asked for"
    return np.asarray(run.sets[np.arange(len(labels)), labels], dtype=np.float64)


def _set_sizes(run: Run, logits: ndarray, labels: ndarray) -> Float[ndarray, " examples"]:
    assert run.sets is not None, "only metrics of a stored trial are asked for"
    return np.asarray(run.sets.sum(axis=1), dtype=np.float64)


def _answered(
    run: Run, logits: ndarray, labels: ndarray, *, column: int
) -> Float[ndarray, " examples"]:
    assert run.answered is not None, "only metrics of a stored trial are asked for"
    return np.asarray(run.answered[:, column], dtype=np.float64)


def _paid(run: Run, logits: ndarray, labels: ndarray) -> Float[ndarray, " examples"]:
    assert run.costs is not None, "only priced runs have costs"
    return paid_costs(logits=logits, matrix=run.costs.matrix, labels=labels)


# Metrics that are means over examples.
LOSSES: dict[str, Callable[[Run, ndarray, ndarray], Float[ndarray, " examples"]]] = {
    "nll": _nll,
    "accuracy": _hits,
    "brier": _brier,
    "cost": _paid,
    "set_coverage": _set_hits,
    "set_size": _set_sizes,
    **{name: partial(_answered, column=number) for number, name in enumerate(TRIED[2:])},
}
