"""Decisions by cost: the expected cost of each answer, and the cheapest one."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray

from oddkout.checks import Labels, Matrix, Prior, frequencies, matching_labels
from oddkout.decisions.inputs import PriorShift, named, probabilities
from oddkout.metrics.intervals import bootstrap_interval

REPLICATES = 1000


def checked_costs(matrix: Matrix, *, classes: int) -> Float[ndarray, "classes answers"]:
    """Return costs as numbers, or raise unless each class and answer has one, none below 0.

    Args:
        matrix: Cost of each answer (column) if each class (row) is the true one.
        classes: Number of classes.
    """
    try:
        given = np.asarray(matrix.cpu() if isinstance(matrix, torch.Tensor) else matrix, float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"costs must be a table of numbers, one row per class, but cannot be read as one "
            f"({error}); look for text, empty cells and rows of different lengths"
        ) from None
    if given.ndim != 2 or given.shape[0] != classes or given.shape[1] < 2:
        raise ValueError(
            f"costs must have a row for each of the {classes} classes and a column for each of at "
            f"least 2 answers, got shape {given.shape}; rows are true classes, columns are answers"
        )
    missing = np.argwhere(~np.isfinite(given))
    if len(missing):
        row, column = missing[0].tolist()
        raise ValueError(
            f"costs must be finite numbers, but that of answer {column} for class {row} is "
            f"{given[row, column]}; write 0 for no cost and a large number for a forbidden answer"
        )
    if (given < 0).any():
        row, column = np.argwhere(given < 0)[0].tolist()
        raise ValueError(
            f"costs must not be negative, but that of answer {column} for class {row} is "
            f"{given[row, column]:g}; add a constant to its row, which changes no decision"
        )
    return given


def costs(
    probs: Matrix = None,
    matrix: Matrix = None,
    *,
    logits: Matrix = None,
    prior: Prior = None,
    train_prior: Prior = None,
) -> Float[ndarray, "examples answers"]:
    """Expected cost of each answer for each example; the lowest of a row is the cheapest answer.

    Args:
        probs: Class probabilities.
        matrix: Cost of each answer (column) if each class (row) is the true one. There may be
            further answers than classes, such as referring the case.
        logits: Logits, instead of ``probs``.
        prior: Class frequencies where one decides; probabilities are moved to them.
        train_prior: Class frequencies that the probabilities are for; required with ``prior``.

    Example:
        A missed illness costs 10, a false alarm 1: alarm from a probability of 1/11 on.

        >>> costs([[0.8, 0.2]], [[0, 1], [10, 0]]).tolist()
        [[2.0, 0.8]]
        >>> costs([[0.8, 0.2]], [[0, 1], [10, 0]], prior=[0.99, 0.01], train_prior=[0.8, 0.2]
        ...       ).round(3).tolist()
        [[0.1, 0.99]]
    """
    rows = moved_probabilities(probs, logits=logits, prior=prior, train_prior=train_prior)
    if matrix is None:
        raise ValueError("costs must be given, one row per class and one column per answer")
    return np.asarray(rows @ checked_costs(matrix, classes=rows.shape[1]))


def moved_probabilities(
    probs: Matrix, *, logits: Matrix, prior: Prior, train_prior: Prior
) -> Float[ndarray, "examples classes"]:
    """Probabilities for requested class frequencies."""
    rows = probabilities(logits, probs=probs)
    if (prior is None) != (train_prior is None):
        raise ValueError(
            "prior and train_prior must be given together: the frequencies to predict for, and "
            "those that the probabilities are for"
        )
    if prior is None:
        return rows
    count = rows.shape[1]
    factors = frequencies("prior", prior, classes=count) / frequencies(
        "train_prior", train_prior, classes=count
    )
    joint = rows * factors.numpy()
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def cheapest_answers(
    probs: Matrix = None,
    matrix: Matrix = None,
    *,
    logits: Matrix = None,
    prior: Prior = None,
    train_prior: Prior = None,
) -> Int[ndarray, " examples"]:
    """Column of the cheapest answer of each example; the first wins a tie.

    The arguments are those of ``costs``.

    Example:
        >>> cheapest_answers([[0.8, 0.2], [0.95, 0.05]], [[0, 1], [10, 0]]).tolist()
        [1, 0]
    """
    expected = costs(probs, matrix, logits=logits, prior=prior, train_prior=train_prior)
    return np.asarray(expected.argmin(axis=1))


def paid_costs(
    probs: Matrix = None, matrix: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[ndarray, " examples"]:
    """What the cheapest answer turns out to cost for each example of known class.

    Args:
        probs: Class probabilities.
        matrix: Cost of each answer (column) if each class (row) is the true one.
        labels: True classes.
        logits: Logits, instead of ``probs``.

    Example:
        >>> paid_costs([[0.8, 0.2], [0.95, 0.05]], [[0, 1], [10, 0]], [0, 1]).tolist()
        [1.0, 10.0]
    """
    rows = probabilities(logits, probs=probs)
    table = checked_costs(matrix, classes=rows.shape[1])
    truth = matching_labels(labels, examples=len(rows), classes=rows.shape[1]).cpu().numpy()
    return np.asarray(table[truth, (rows @ table).argmin(axis=1)])


@dataclass(frozen=True)
class PolicyCost:
    """Cost per case of a way to answer.

    Attributes:
        policy: ``"cheapest answers"``, ``"always ..."`` or ``"guess"``.
        cost: Mean cost per case.
        interval: Its 95 % confidence interval.
        excess: How much more it costs than the cheapest answers.
        excess_interval: 95 % confidence interval of the excess, from the same cases.
    """

    policy: str
    cost: float
    interval: tuple[float, float]
    excess: float
    excess_interval: tuple[float, float]


def policy_costs(
    probs: Matrix = None,
    matrix: Matrix = None,
    labels: Labels = None,
    *,
    logits: Matrix = None,
    prior: Prior = None,
    train_prior: Prior = None,
    answers: Sequence[str] | None = None,
    seed: int = 0,
) -> list[PolicyCost]:
    """What cases with known classes cost: by cheapest answers, always the same one, or guessing.

    Guessing answers each class as often as it occurs, whatever the case. With ``prior`` cases weigh
    by their class, so that classes are as frequent as stated. Intervals are from a bootstrap.

    Args:
        probs: Class probabilities.
        matrix: Cost of each answer (column) if each class (row) is the true one; with as many
            answers as classes or more, the first ones are the classes.
        labels: True classes.
        logits: Logits, instead of ``probs``.
        prior: Class frequencies where one decides.
        train_prior: Class frequencies that the probabilities are for; required with ``prior``.
        answers: Names of the answers.
        seed: Seed of the bootstrap.

    Example:
        >>> found = policy_costs([[0.95, 0.05], [0.2, 0.8]], [[0, 1], [10, 0]], [0, 1])
        >>> [(one.policy, one.cost) for one in found]
        [('cheapest answers', 0.0), ('always 0', 5.0), ('always 1', 0.5), ('guess', 2.75)]
    """
    rows = moved_probabilities(probs, logits=logits, prior=prior, train_prior=train_prior)
    count = rows.shape[1]
    table = checked_costs(matrix, classes=count)
    names = named(answers, table.shape[1])
    truth = matching_labels(labels, examples=len(rows), classes=count).cpu().numpy()
    chosen = (rows @ table).argmin(axis=1)
    policies = {"cheapest answers": table[truth, chosen]}
    policies |= {f"always {name}": table[truth, number] for number, name in enumerate(names)}
    weights = PriorShift(truth, classes=count, prior=prior).weights[truth]
    if table.shape[1] >= count:
        shares = np.bincount(truth, weights=weights, minlength=count) / weights.sum()
        policies["guess"] = table[truth, :count] @ shares
    resampled = _resamples(weights, seed=seed)
    best = policies["cheapest answers"]
    found = []
    for policy, paid in policies.items():
        cost, interval = _mean(paid, weights, resampled)
        excess, excess_interval = _mean(paid - best, weights, resampled)
        found.append(PolicyCost(policy, cost, interval, excess, excess_interval))
    return found


def _resamples(
    weights: Float[ndarray, " examples"], *, seed: int
) -> Float[ndarray, "replicates examples"]:
    """Weights of the examples in each bootstrap replicate; they sum to 1."""
    count = len(weights)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=REPLICATES) * weights
    total: Float[ndarray, "replicates examples"] = drawn / drawn.sum(axis=1, keepdims=True)
    return total


def _mean(
    values: Float[ndarray, " examples"],
    weights: Float[ndarray, " examples"],
    resampled: Float[ndarray, "replicates examples"],
) -> tuple[float, tuple[float, float]]:
    """Weighted mean and its bootstrap interval."""
    mean = float(np.average(values, weights=weights))
    low, high = bootstrap_interval(mean, torch.from_numpy(resampled @ values))
    return mean, (low, high)
