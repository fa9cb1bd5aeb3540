"""How well the probability of a class separates it from the rest: AUROC and average precision."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Labels, Matrix
from oddkout.metrics.predictions import Predictions, read


class ClassRanking(NamedTuple):
    """One class against the rest, with the influence of each example on both values.

    A value is about the truth plus the mean of its influences, so that their variance gives its
    standard error. Both values are NaN, without influence, if the class has no examples or all.

    Args:
        column: The class.
        auroc: Its AUROC.
        average_precision: Its average precision.
        auroc_influence: Influence of each example on the AUROC.
        precision_influence: Influence of each example on the average precision.
    """

    column: int
    auroc: Tensor
    average_precision: Tensor
    auroc_influence: Tensor
    precision_influence: Tensor


def auroc(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, ""]:
    """Area under the ROC curve, one class against the rest, averaged over the classes.

    Classes without examples are left out. For two classes this is the usual AUROC, because both
    classes have the same one. It is NaN if all examples are of one class.

    Example:
        Of the four pairs of examples of different classes, three are in order.

        >>> auroc([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4], [0.2, 0.8]], [0, 0, 1, 1]).item()
        0.75
    """
    return per_class_auroc(probs, labels, logits=logits).nanmean()


def per_class_auroc(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, " classes"]:
    """Probability that an example of the class gets a higher probability of it than another one.

    Ties count half. It is NaN for a class without examples, and for one with all examples.

    Example:
        >>> per_class_auroc([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]], [0, 0, 1]).tolist()
        [0.5, 0.5]
    """
    predictions = read(probs=probs, logits=logits, labels=labels)
    return torch.stack([ranking.auroc for ranking in class_rankings(predictions)])


def average_precision(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, ""]:
    """Average precision, one class against the rest, averaged over the classes.

    Classes without examples are left out. Two classes are averaged as well: which of them comes
    second depends on the alphabet. ``per_class_average_precision`` has that of each. A classifier
    that knows nothing scores the mean of the class frequencies, 1 / classes.

    Example:
        The examples of class 0 rank first and second: 1. That of class 1 ranks first as well: 1.

        >>> average_precision([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]], [0, 0, 1]).item()
        1.0
    """
    return per_class_average_precision(probs, labels, logits=logits).nanmean()


def per_class_average_precision(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, " classes"]:
    """Precision at the probability of each example of the class, averaged over these examples.

    Precision at a probability is the share of the class among the examples with at least that
    probability of it, without interpolation. NaN for a class without examples, and for one with
    all examples.

    Example:
        Class 0 ranks first and third: (1 / 1 + 2 / 3) / 2. Class 1 ranks second: 1 / 2.

        >>> found = per_class_average_precision([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]], [0, 0, 1])
        >>> [round(value, 4) for value in found.tolist()]
        [0.8333, 0.5]
    """
    predictions = read(probs=probs, logits=logits, labels=labels)
    return torch.stack([ranking.average_precision for ranking in class_rankings(predictions)])


def class_rankings(predictions: Predictions) -> Iterator[ClassRanking]:
    """Yield AUROC and average precision of each class, one after the other to save memory."""
    labels = predictions.true_classes
    total = predictions.values.new_empty(len(labels), dtype=torch.float64)
    if predictions.are_logits:
        for block, rows in predictions.blocks():
            total[block] = rows.double().logsumexp(dim=1)
    for column in range(predictions.shape[1]):
        scores = predictions.values[:, column].double()
        yield _ranking(
            column, (scores - total).exp() if predictions.are_logits else scores, labels == column
        )


def _ranking(column: int, scores: Tensor, is_positive: Tensor) -> ClassRanking:
    """One class against the rest, from its probabilities."""
    examples, positives = len(scores), int(is_positive.sum())
    negatives = examples - positives
    if positives == 0 or negatives == 0:
        undefined = scores.new_tensor(torch.nan)
        none = torch.zeros_like(scores)
        return ClassRanking(column, undefined, undefined, none, none)
    # Groups of equal scores, the highest first.
    distinct, ascending = torch.unique(scores, return_inverse=True)
    group = len(distinct) - 1 - ascending
    zeros = scores.new_zeros(len(distinct))
    right = zeros.index_add(0, group, is_positive.double())
    wrong = zeros.index_add(0, group, (~is_positive).double())
    right_above, wrong_above = right.cumsum(0), wrong.cumsum(0)

    # Of each group: the share of the other kind that it is in order with.
    beats = (negatives - wrong_above + wrong / 2) / negatives
    beaten = (right_above - right / 2) / positives
    area = (right * beats).sum() / positives
    area_influence = torch.where(
        is_positive,
        (beats[group] - area) * (examples / positives),
        (beaten[group] - area) * (examples / negatives),
    )

    precision = right_above / (right_above + wrong_above)
    average = (right * precision).sum() / positives
    # An example changes the precision at its own and at all lower scores.
    step = right / (right_above + wrong_above)
    gain, loss = (part.flip(0).cumsum(0).flip(0)[group] for part in (step, step * precision))
    own = torch.where(is_positive, precision[group] - average + gain, 0.0)
    precision_influence = (own - loss) * (examples / positives)
    return ClassRanking(column, area, average, area_influence, precision_influence)
