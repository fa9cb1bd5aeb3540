"""Accuracy: overall, per class, balanced, and for frequent and rare classes."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Labels, Matrix, class_labels
from oddkout.metrics.predictions import read


def accuracy(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, ""]:
    """Share of examples whose predicted class is the true one.

    Example:
        >>> accuracy([[0.9, 0.1], [0.6, 0.4]], [0, 1]).item()
        0.5
    """
    _, hits = read(probs=probs, logits=logits, labels=labels).confidence_and_hits()
    return hits.double().mean()


def per_class_accuracy(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, " classes"]:
    """Accuracy on the examples of each class; NaN for a class without examples.

    Example:
        >>> per_class_accuracy([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]], [0, 0, 1]).tolist()
        [1.0, 0.0]
    """
    predictions = read(probs=probs, logits=logits, labels=labels)
    _, hits = predictions.confidence_and_hits()
    right, count = hits_by_class(hits, predictions.true_classes, classes=predictions.shape[1])
    return right / count


def balanced_accuracy(
    probs: Matrix = None, labels: Labels = None, *, logits: Matrix = None
) -> Float[Tensor, ""]:
    """Mean of the per-class accuracies; classes without examples are left out.

    Example:
        >>> balanced_accuracy([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]], [0, 0, 1]).item()
        0.5
    """
    return per_class_accuracy(probs, labels, logits=logits).nanmean()


def frequency_groups(
    train_labels: Labels, *, classes: int
) -> dict[str, Int[Tensor, " group_classes"]]:
    """Split the classes into thirds by their number of training examples: head, middle, tail.

    The head is the most frequent third. If the classes do not divide by 3, the middle is larger.
    Ties are broken by the number of the class.

    Example:
        >>> groups = frequency_groups([0, 0, 0, 1, 2, 2], classes=3)
        >>> {name: members.tolist() for name, members in groups.items()}
        {'head': [0], 'middle': [2], 'tail': [1]}
    """
    train_labels = class_labels(train_labels)
    if train_labels.min() < 0 or train_labels.max() >= classes:
        raise ValueError(
            f"training labels must lie in 0 .. {classes - 1}, got {int(train_labels.min())} .. "
            f"{int(train_labels.max())}; number the classes like the columns of the predictions"
        )
    if classes < 3:
        raise ValueError(
            f"head, middle and tail need at least 3 classes, got {classes}; look at the accuracy "
            "of each class instead"
        )
    counts = train_labels.bincount(minlength=classes)
    ranked = counts.argsort(descending=True, stable=True)
    third = classes // 3
    return {
        "head": ranked[:third].sort().values,
        "middle": ranked[third : classes - third].sort().values,
        "tail": ranked[classes - third :].sort().values,
    }


def hits_by_class(
    hits: Float[Tensor, " examples"], labels: Int[Tensor, " examples"], *, classes: int
) -> tuple[Float[Tensor, " {classes}"], Float[Tensor, " {classes}"]]:
    """Number of correct predictions and number of examples of each class."""
    zeros = torch.zeros(classes, dtype=torch.float64, device=hits.device)
    right = zeros.index_add(0, labels, hits.double())
    return right, labels.bincount(minlength=classes).double()
