"""Whether a test part has other class frequencies than the training part."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64
from numpy import ndarray

from oddkout.checks import at_least
from oddkout.data.arrays import Data

# A p-value below it counts as significant; every separate test part is tested.
LEVEL = 0.01

_DRAWS = 9_999


@dataclass(frozen=True, kw_only=True)
class ClassShift:
    """A significant difference of class frequencies.

    Attributes:
        train: Class frequencies of the training part.
        test: Class frequencies of the test part.
        p_value: Probability of so large a difference if both parts are samples of the same data.
        prior: What to pass as ``--prior``: ``"uniform"`` if the test part is compatible with equal
            frequencies, otherwise its frequencies.
        text: What differs and what to do, in one sentence.
    """

    train: tuple[float, ...]
    test: tuple[float, ...]
    p_value: float
    prior: str
    text: str


def class_shift(data: Data) -> ClassShift | None:
    """The difference of the class frequencies of a separate test part, if it is significant.

    A test part that we split off has the frequencies of the training part by design, or differs by
    whole groups; known benchmarks are judged for equal classes anyway: there is nothing to warn of.

    Args:
        data: Loaded data.
    """
    if data.test_rows is not None or data.is_benchmark or len(data.y_test) == 0:
        return None
    counts = [np.bincount(y, minlength=len(data.classes)) for y in (data.y_train, data.y_test)]
    groups = None
    if data.train_groups is not None and data.test_groups is not None:
        groups = (data.train_groups, data.test_groups)
        p_value = _grouped_p_value((data.y_train, data.y_test), groups, classes=len(data.classes))
    else:
        p_value = shift_p_value(*counts)
    if p_value >= LEVEL:
        return None
    train, test = (count / count.sum() for count in counts)
    prior = "uniform" if _is_uniform(counts[1]) else ",".join(f"{share:.3g}" for share in test)
    place = int(np.argmax(np.abs(train - test)))
    return ClassShift(
        train=tuple(train.tolist()),
        test=tuple(test.tolist()),
        p_value=p_value,
        prior=prior,
        text=f"class frequencies of the test part differ significantly from those of the training "
        f"part ({data.classes[place]!r} has {test[place]:.1%} instead of {train[place]:.1%}, "
        f"p = {p_value:.2g}), so probabilities for the training frequencies are judged unfairly; "
        f"pass --prior {prior if len(prior) < 60 else 'with one frequency per class'}"
        f"{' for equally frequent classes' if prior == 'uniform' else ''}, or take a test part of "
        "the same kind",
    )


def shift_p_value(
    train: Int64[ndarray, " classes"], test: Int64[ndarray, " classes"], *, draws: int = _DRAWS
) -> float:
    """P-value of the hypothesis that both parts have the same class frequencies.

    The chi-square statistic of the table of counts is compared with those of random assignments of
    the examples to both parts, so that small counts need no approximation.

    Args:
        train: Number of training examples of each class.
        test: Number of test examples of each class.
        draws: Number of random assignments.

    Example:
        >>> shift_p_value(np.array([90, 10]), np.array([18, 2]))
        1.0
        >>> shift_p_value(np.array([90, 10]), np.array([10, 10])) < 0.001
        True
    """
    at_least("draws", draws, 1)
    total = train + test
    drawn = np.random.default_rng(0).multivariate_hypergeometric(
        total, int(test.sum()), size=draws, method="marginals"
    )
    return _p_value(_distance(drawn, total), _distance(test, total))


def _grouped_p_value(labels: Any, groups: Any, *, classes: int, draws: int = 999) -> float:
    """The same for random assignments of whole groups."""
    y, group = np.concatenate(labels), np.concatenate(groups)
    # Training and test part may number their groups independently.
    group = group + np.repeat([0, group.max() + 1], [len(part) for part in groups])
    names, position = np.unique(group, return_inverse=True)
    of_group = np.zeros((len(names), classes), dtype=np.int64)
    np.add.at(of_group, (position, y), 1)
    tested = len(np.unique(groups[1]))
    rng = np.random.default_rng(0)
    total = of_group.sum(axis=0)
    drawn = np.stack([of_group[rng.permutation(len(names))[:tested]].sum(axis=0)
                      for _ in range(draws)])  # fmt: skip
    observed = np.bincount(labels[1], minlength=classes)
    return _p_value(_distance(drawn, total), _distance(observed, total))


def _distance(
    test: Int64[ndarray, "*draws classes"], total: Int64[ndarray, " classes"]
) -> Float64[ndarray, "*draws"]:
    """Chi-square distance of the test part's frequencies from those of all examples."""
    present = total > 0
    expected = total[present] / total.sum()
    size = test.sum(axis=-1, keepdims=True)
    shares = test[..., present] / np.maximum(size, 1)
    return np.asarray(((shares - expected) ** 2 / expected).sum(axis=-1))


def _p_value(drawn: Float64[ndarray, " draws"], observed: Float64[ndarray, ""]) -> float:
    """Share of draws that are at least as far off, counting what was observed as one."""
    reached = int((drawn >= observed * (1 - 1e-9)).sum())
    return (1 + reached) / (1 + len(drawn))


def _is_uniform(counts: Int64[ndarray, " classes"], *, level: float = 0.05) -> bool:
    """Whether counts are compatible with equally frequent classes."""
    size, classes = int(counts.sum()), len(counts)
    even = np.full(classes, 1 / classes)
    drawn = np.random.default_rng(0).multinomial(size, even, size=_DRAWS)
    statistics = [((part - size / classes) ** 2).sum(axis=-1) for part in (drawn, counts)]
    return _p_value(statistics[0].astype(float), np.asarray(statistics[1], dtype=float)) >= level
