"""The prior ledger: which class frequencies logits and probabilities are for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor

from oddkout.calibrators import PriorCorrection, TemperatureScaling
from oddkout.checks import Labels, Number, at_least, class_labels, one_of

# An absent class counts as this many examples, since no probability may be 0.
_FLOOR = 0.5

Frequencies = tuple[float, ...]


def class_frequencies(labels: Labels, *, classes: int | None = None) -> Float[Tensor, " _"]:
    """Share of every class among the labels; a class without examples counts as half an example.

    Args:
        labels: Class of every example, in ``0 .. classes - 1``.
        classes: Number of classes; one more than the largest label if not given.

    Example:
        >>> class_frequencies([0, 0, 0, 1])
        tensor([0.7500, 0.2500], dtype=torch.float64)
    """
    given = class_labels(labels).cpu()
    count = int(given.max()) + 1 if classes is None else at_least("classes", classes, 1)
    if given.min() < 0 or given.max() >= count:
        raise ValueError(
            f"labels must lie in 0 .. {count - 1}, got {int(given.min())} .. {int(given.max())}; "
            "number the classes from 0 or raise classes"
        )
    counts = given.bincount(minlength=count).double().clamp_min(_FLOOR)
    return counts / counts.sum()


def uniform(classes: int) -> Frequencies:
    """Equal frequencies of all classes."""
    return (1 / classes,) * classes


def requested_prior(prior: Any, *, train: Frequencies) -> Frequencies:
    """The frequencies that a user asks for.

    Args:
        prior: ``"train"``, ``"uniform"``, or a frequency for each class.
        train: Class frequencies of the training data.
    """
    if isinstance(prior, str):
        one_of("prior", prior, ("train", "uniform"))
        return train if prior == "train" else uniform(len(train))
    return tuple(PriorCorrection(prior, train_prior=train).prior.tolist())


@dataclass(frozen=True, kw_only=True)
class PriorLedger:
    """From the logits of a network to logits for any class frequencies.

    Logits are moved from the frequencies that training assumed to the stated ones, divided by the
    temperature, which was fitted there, and moved on to whatever frequencies are asked for.

    Attributes:
        assumed: Class frequencies that the logits of the network are for: equal ones after
            balanced training, those of the training data otherwise.
        stated: Class frequencies that probabilities are for unless others are asked for.
        temperature: What logits for the stated frequencies are divided by.

    Example:
        An even bet of a balanced network, where one class is nine times as frequent.

        >>> import torch
        >>> ledger = PriorLedger(assumed=(0.5, 0.5), stated=(0.9, 0.1))
        >>> ledger.logits(torch.zeros(1, 2)).softmax(dim=1)
        tensor([[0.9000, 0.1000]])
    """

    assumed: Frequencies
    stated: Frequencies
    temperature: Number = 1.0

    def __post_init__(self) -> None:
        PriorCorrection(self.stated, train_prior=self.assumed)  # refuses what are no frequencies
        TemperatureScaling(self.temperature)

    def logits(
        self, logits: Float[Tensor, "examples classes"], *, prior: Sequence[float] | None = None
    ) -> Float[Tensor, "examples classes"]:
        """Logits whose softmax is the prediction.

        Args:
            logits: Logits of the network.
            prior: Class frequencies to predict for; the stated ones if not given.
        """
        if self.stated != self.assumed:
            logits = PriorCorrection(self.stated, train_prior=self.assumed)(logits)
        if self.temperature != 1:
            logits = TemperatureScaling(self.temperature)(logits)
        if prior is not None:
            logits = PriorCorrection(prior, train_prior=self.stated)(logits)
        return logits
