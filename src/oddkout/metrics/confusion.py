"""The confusion matrix, and what follows from it: precision, F1 and Matthews' correlation."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Labels, Matrix
from oddkout.metrics.predictions import Predictions, read


def confusion_matrix(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Int[Tensor, "classes classes"]:
    """Number of examples of each true class (row) by predicted class (column).

    Example:
        >>> confusion_matrix([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]], [0, 1, 1]).tolist()
        [[1, 0], [1, 1]]
    """
    return confusion(read(probs=probs, logits=logits, labels=labels))


def per_class_precision(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, " classes"]:
    """Share of the predictions of each class that are correct; NaN if it is never predicted.

    Example:
        >>> per_class_precision([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]], [0, 1, 1]).tolist()
        [0.5, 1.0]
    """
    matrix = confusion_matrix(probs, labels, logits=logits).double()
    return matrix.diagonal() / matrix.sum(dim=0)


def per_class_f1(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, " classes"]:
    """Harmonic mean of precision and recall (per-class accuracy) of each class.

    It is 0 for a class that is never predicted but occurs, or is predicted but never occurs, and
    NaN for a class that neither occurs nor is predicted.

    Example:
        Class 0 has precision 1 / 2 and recall 1: 2 / 3.

        >>> found = per_class_f1([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]], [0, 1, 1])
        >>> [round(value, 4) for value in found.tolist()]
        [0.6667, 0.6667]
    """
    matrix = confusion_matrix(probs, labels, logits=logits).double()
    return 2 * matrix.diagonal() / (matrix.sum(dim=0) + matrix.sum(dim=1))


def matthews_correlation(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, ""]:
    """Matthews' correlation of predicted and true classes, for any number of classes.

    It is 1 for perfect predictions and 0 for predictions that know nothing (Gorodkin, 2004).
    Predictions of a single class know nothing: 0. If the labels are of a single class, it is NaN.

    Example:
        One of three is wrong: (1 * 1 - 1 * 0) / sqrt(1 * 2 * 2 * 1).

        >>> probs = [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]]
        >>> round(matthews_correlation(probs, [0, 1, 1]).item(), 4)
        0.5
    """
    matrix = confusion_matrix(probs, labels, logits=logits).double()
    return correlation(matrix.diagonal().sum(), matrix.sum(dim=1), matrix.sum(dim=0))


def confusion(predictions: Predictions) -> Int[Tensor, "classes classes"]:
    """The confusion matrix of checked predictions."""
    classes = predictions.shape[1]
    key = predictions.true_classes * classes + predictions.top()[1]
    return key.bincount(minlength=classes**2).view(classes, classes)


def correlation(hits: Tensor, true: Tensor, predicted: Tensor) -> Tensor:
    """Matthews' correlation from the number of hits and the sizes of the classes (axis 0)."""
    count = true.sum(dim=0)
    covariance = hits * count - (true * predicted).sum(dim=0)
    spread = count**2 - (true**2).sum(dim=0), count**2 - (predicted**2).sum(dim=0)
    score = covariance / (spread[0] * spread[1]).sqrt().clamp_min(torch.finfo(count.dtype).tiny)
    return torch.where(spread[0] > 0, score, torch.nan)


def correlation_influence(
    true: Int[Tensor, " examples"], predicted: Int[Tensor, " examples"], *, classes: int
) -> Float[Tensor, " examples"]:
    """Influence of each example on Matthews' correlation; 0 where it is undefined or constant."""
    sizes = true.bincount(minlength=classes).double() / len(true)
    calls = predicted.bincount(minlength=classes).double() / len(true)
    hits = (true == predicted).double()
    # With shares s, c and mean hit h: (h - s.c) / sqrt((1 - s.s) (1 - c.c)).
    first, second = 1 - (sizes**2).sum(), 1 - (calls**2).sum()
    if first <= 0 or second <= 0:
        return torch.zeros_like(hits)
    scale = (first * second).sqrt()
    score = (hits.mean() - (sizes * calls).sum()) / scale
    by_covariance = (hits - hits.mean()) - (
        calls[true] + sizes[predicted] - 2 * (sizes * calls).sum()
    )
    by_spread = (sizes[true] - (sizes**2).sum()) / first + (
        calls[predicted] - (calls**2).sum()
    ) / second
    return by_covariance / scale + score * by_spread
