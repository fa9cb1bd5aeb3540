"""Skill: how much better than guessing the class frequencies the probabilities are."""

import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Labels, Matrix, Prior, frequencies
from oddkout.metrics.entropies import cross_entropies
from oddkout.metrics.predictions import read


def log_loss_skill(
    logits: Matrix = None, labels: Labels = None, *, probs: Matrix = None, prior: Prior = None
) -> Float[Tensor, ""]:
    """1 - NLL / NLL of always predicting the class frequencies: 1 is perfect, 0 is guessing.

    It is negative if guessing is better. It is NaN if the labels are of one class and ``prior`` is
    not given, since guessing is then perfect.

    Args:
        logits: Logits, of shape (examples, classes).
        labels: True classes.
        probs: Probabilities, instead of ``logits``.
        prior: Class frequencies to guess, usually those of the training data; by default those of
            the labels, which is the hardest guess to beat.

    Example:
        Probability 1/2 for the true class, where guessing gives 1/4 to each of four classes.

        >>> probs = [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]]
        >>> log_loss_skill(probs=probs, labels=[1, 2], prior=[0.25] * 4).item()
        0.5
    """
    predictions = read(probs=probs, logits=logits, labels=labels)
    counts = predictions.true_classes.bincount(minlength=predictions.shape[1]).double()
    shares = None if prior is None else frequencies("prior", prior, classes=len(counts))
    return skill(cross_entropies(predictions).mean(), guessing_nll(counts, shares) / counts.sum())


def skill(nll: Tensor, guessing: Tensor) -> Tensor:
    """Skill from the NLL of the predictions and that of guessing."""
    return torch.where(guessing > 0, 1 - nll / guessing, torch.nan)


def guessing_nll(counts: Tensor, shares: Tensor | None) -> Tensor:
    """Summed NLL of always predicting class frequencies.

    Args:
        counts: Number of examples of each class (axis 0); further axes are kept.
        shares: The frequencies that are predicted; by default those of the counts.
    """
    if shares is None:
        examples = counts.sum(dim=0)
        return torch.xlogy(examples, examples) - torch.xlogy(counts, counts).sum(dim=0)
    return -(shares.log().to(counts.dtype) @ counts)
