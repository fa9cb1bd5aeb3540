"""Entropy H(Q), cross-entropy H(P, Q), and their difference, the relative cross-entropy."""

import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Labels, Matrix
from oddkout.metrics.predictions import Predictions, read


def entropy(logits: Matrix = None, *, probs: Matrix = None) -> Float[Tensor, " examples"]:
    """Entropy H(Q) of each prediction, in nats.

    Example:
        Two classes of equal probability: log(2).

        >>> round(entropy([[0.0, 0.0]]).item(), 4)
        0.6931
    """
    return entropies(read(probs=probs, logits=logits, has_labels=False))


def cross_entropy(
    logits: Matrix = None, labels: Labels = None, *, probs: Matrix = None
) -> Float[Tensor, " examples"]:
    """Cross-entropy H(P, Q) of each example: -log(probability of its class).

    It is infinite if that probability is 0.

    Example:
        >>> round(cross_entropy(probs=[[0.25, 0.75]], labels=[0]).item(), 4)  # log(4)
        1.3863
    """
    return cross_entropies(read(probs=probs, logits=logits, labels=labels))


def negative_log_likelihood(
    logits: Matrix = None, labels: Labels = None, *, probs: Matrix = None
) -> Float[Tensor, ""]:
    """Mean cross-entropy.

    Example:
        >>> round(negative_log_likelihood(torch.zeros(3, 4), [0, 1, 2]).item(), 4)  # log(4)
        1.3863
    """
    return cross_entropy(logits, labels, probs=probs).mean()


def relative_cross_entropy(
    logits: Matrix = None, labels: Labels = None, *, probs: Matrix = None
) -> Float[Tensor, " examples"]:
    """Relative cross-entropy RC = H(P, Q) - H(Q) of each example (definition 1 of the paper).

    It measures overconfidence: it is at least 0 if the true class has a probability of at most
    1 / classes, and 0 on average for a calibrated model. If the true class has probability 0, it
    is infinite, never NaN.

    Example:
        Correct at 3/4: log(4/3) minus the entropy, 3/4 log(4/3) + 1/4 log(4), is -log(3) / 4.

        >>> round(relative_cross_entropy(probs=[[0.75, 0.25]], labels=[0]).item(), 4)
        -0.2747
    """
    predictions = read(probs=probs, logits=logits, labels=labels)
    return cross_entropies(predictions) - entropies(predictions)


def entropy_gap(
    logits: Matrix = None, labels: Labels = None, *, probs: Matrix = None
) -> Float[Tensor, ""]:
    """Absolute difference of mean cross-entropy and mean entropy, as in table 2 of the paper.

    Example:
        One correct and one wrong prediction at 3/4 have RC of -log(3)/4 and 3 log(3)/4.

        >>> round(entropy_gap(probs=[[0.75, 0.25]] * 2, labels=[0, 1]).item(), 4)  # log(3) / 4
        0.2747
    """
    return relative_cross_entropy(logits, labels, probs=probs).mean().abs()


def entropies(predictions: Predictions) -> Float[Tensor, " examples"]:
    """Entropy of each prediction, in double precision."""
    values = predictions.values.new_empty(predictions.shape[0], dtype=torch.float64)
    if predictions.are_logits:
        for block, log_probs in predictions.log_probability_blocks():
            values[block] = -(log_probs.exp() * log_probs).sum(dim=1, dtype=torch.float64)
    else:
        for block, probs in predictions.probability_blocks():
            values[block] = torch.special.entr(probs).sum(dim=1, dtype=torch.float64)
    return values


def cross_entropies(predictions: Predictions) -> Float[Tensor, " examples"]:
    """Cross-entropy of each prediction with its label, in double precision."""
    labels = predictions.true_classes[:, None]
    if not predictions.are_logits:
        return -predictions.values.gather(1, labels)[:, 0].double().log()
    values = predictions.values.new_empty(predictions.shape[0], dtype=torch.float64)
    for block, log_probs in predictions.log_probability_blocks():
        values[block] = -log_probs.gather(1, labels[block])[:, 0].double()
    return values
