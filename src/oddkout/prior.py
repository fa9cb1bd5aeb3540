"""The prior ledger: convert logits from one set of class frequencies to another."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.calibrators import AdjustedTemperature, PriorCorrection
from oddkout.checks import Labels, Number, at_least, class_labels, few, frequencies, one_of

# An absent class counts as this many examples, since no probability may be 0.
_FLOOR = 0.5

Frequencies = tuple[float, ...]

# Class frequencies that classifiers are judged for: those of the training part; equal ones as in
# the paper, which corrects no method as trained; or the frequencies that a user requests.
Population = Literal["train", "uniform"] | Frequencies


def class_frequencies(labels: Labels, *, classes: int | None = None) -> Float[Tensor, " _"]:
    """Share of each class among the labels. A class without examples counts as half an example.

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


def requested_prior(
    prior: Any, *, train: Frequencies, names: Sequence[str] | None = None
) -> Frequencies:
    """The class frequencies that a user requests, as numbers.

    Args:
        prior: ``"train"``, ``"uniform"``, a frequency for each class, or a mapping from the names
            of the classes to their frequencies.
        train: Class frequencies of the training data.
        names: Names of the classes; by default those of a mapping in its order.

    Example:
        >>> requested_prior("uniform", train=(0.9, 0.1))
        (0.5, 0.5)
    """
    if isinstance(prior, str):
        one_of("prior", prior, ("train", "uniform"))
        return train if prior == "train" else uniform(len(train))
    if isinstance(prior, Mapping):
        wanted = list(prior) if names is None else list(names)
        if set(prior) != set(wanted):
            raise ValueError(
                f"prior must name the frequency of each of the classes {few(wanted)}, got "
                f"{few(list(prior))}"
            )
        prior = [prior[name] for name in wanted]
    shares = tuple(frequencies("prior", prior).tolist())
    if len(shares) != len(train):
        listed = "" if names is None else f", {few(list(names))}"
        raise ValueError(
            f"prior must hold one frequency for each of the {len(train)} classes{listed}, got "
            f"{len(shares)}"
        )
    return shares


def requested_population(prior: Any, *, names: Sequence[str], is_benchmark: bool) -> Population:
    """The class frequencies to judge for that a user requests.

    Args:
        prior: See ``requested_prior``. None: the frequencies of the training part; for known
            benchmark data sets equal ones, as in the paper.
        names: Names of the classes.
        is_benchmark: Whether the data are a known benchmark.
    """
    if prior is None:
        return "uniform" if is_benchmark else "train"
    if isinstance(prior, str) and prior == "train":
        return "train"
    return requested_prior(prior, train=uniform(len(names)), names=names)


def judged_prior(population: Population, *, classes: int) -> Frequencies | None:
    """Class frequencies to weigh examples for; None to weigh all examples the same.

    Args:
        population: Class frequencies to judge for.
        classes: Number of classes.
    """
    if isinstance(population, tuple):
        return population
    return None if population == "train" else uniform(classes)


def stated_prior(
    population: Population, *, train: Frequencies, assumed: Frequencies
) -> Frequencies:
    """Class frequencies that probabilities are for before calibration.

    The paper corrects no method to equal frequencies.

    Args:
        population: Class frequencies to judge for.
        train: Those of the training data.
        assumed: Those that the network assumes.
    """
    if isinstance(population, tuple):
        return population
    return train if population == "train" else assumed


def prior_sentence(stated: Frequencies, population: Population) -> str:
    """A sentence for all outputs: which class frequencies the probabilities are for.

    Args:
        stated: Class frequencies that the probabilities are for.
        population: Class frequencies to judge for.

    Example:
        >>> prior_sentence((0.9, 0.1), (0.9, 0.1))
        'probabilities are for the class frequencies 0.9, 0.1, as requested'
    """
    if population == "train":
        return "probabilities are for the class frequencies of the training data"
    is_equal = len(set(stated)) == 1
    if isinstance(population, tuple):
        shares = ", ".join(f"{share:.3g}" for share in stated)
        given = "equally frequent classes" if is_equal else f"the class frequencies {shares}"
        return f"probabilities are for {given}, as requested"
    if is_equal:
        return "probabilities are for equally frequent classes: uniform, as in the paper"
    return (
        "probabilities are for the class frequencies of the training data and are judged for "
        "equally frequent classes, uncorrected, as in the paper"
    )


@dataclass(frozen=True, kw_only=True)
class PriorLedger:
    """Converts the logits of a network to any class frequencies.

    Four steps: divide the logits by the temperature, convert them from the assumed to the stated
    frequencies by Bayes' rule, subtract ``strength`` times the log training frequencies, and
    convert the result to other frequencies if requested. Temperature and strength are fitted out
    of fold to what Bayes' rule leaves; see ``AdjustedTemperature``.

    Attributes:
        assumed: Class frequencies that the network assumes: equal frequencies after balanced
            training, otherwise those of the training data.
        stated: Class frequencies that probabilities are for by default.
        train: Class frequencies of the training data.
        temperature: Divisor of the logits.
        strength: Multiple of the log training frequencies that is subtracted.
        exponent: Power of the mean probabilities of an ensemble; above 1 sharpens them.

    Example:
        A balanced network gives both classes the same logit, but one is nine times as frequent.

        >>> import torch
        >>> ledger = PriorLedger(assumed=(0.5, 0.5), stated=(0.9, 0.1), train=(0.9, 0.1))
        >>> ledger.logits(torch.zeros(1, 2)).softmax(dim=1)
        tensor([[0.9000, 0.1000]])
    """

    assumed: Frequencies
    stated: Frequencies
    train: Frequencies
    temperature: Number = 1.0
    strength: Number = 0.0
    exponent: Number = 1.0

    def __post_init__(self) -> None:
        PriorCorrection(self.stated, train_prior=self.assumed)  # raises for invalid frequencies
        PriorCorrection(self.train, train_prior=self.assumed)
        _ = self.calibrator  # raises for an invalid temperature or strength
        if not (self.exponent > 0 and math.isfinite(self.exponent)):
            raise ValueError(f"exponent must be a positive number, got {self.exponent}")

    @property
    def calibrator(self) -> AdjustedTemperature:
        """The first three steps as a module."""
        correction = PriorCorrection(self.stated, train_prior=self.assumed)
        return AdjustedTemperature(
            self.train,
            temperature=self.temperature,
            strength=self.strength,
            shift=correction.prior.log() - correction.train_prior.log(),
        )

    def logits(
        self, logits: Float[Tensor, "examples classes"], *, prior: Sequence[float] | None = None
    ) -> Float[Tensor, "examples classes"]:
        """Logits whose softmax gives the predicted probabilities.

        Args:
            logits: Logits of the network.
            prior: Class frequencies to predict for; by default the stated ones.
        """
        if self.stated != self.assumed or self.temperature != 1 or self.strength != 0:
            logits = self.calibrator(logits)
        if prior is not None:
            logits = PriorCorrection(prior, train_prior=self.stated)(logits)
        return logits

    def combined(
        self, logits: Float[Tensor, "examples *members classes"], *, prior: Any = None
    ) -> Float[Tensor, "examples classes"]:
        """Logits of the prediction of all members together.

        The calibrated probabilities of the members are averaged and raised to the exponent.

        Args:
            logits: Logits of every member, of shape (examples, members, classes); those of a
                single network may lack the second axis.
            prior: Class frequencies to predict for; by default the stated ones.
        """
        if logits.ndim == 2:
            return self.logits(logits, prior=prior)
        together: Tensor = (
            self.calibrator(logits).log_softmax(dim=2).logsumexp(dim=1) * self.exponent
        )
        if prior is not None:
            together = PriorCorrection(prior, train_prior=self.stated)(together)
        return together

    def shift(self, *, prior: Sequence[float] | None = None) -> Float[Tensor, " classes"]:
        """What is added to each class's logit after the temperature.

        Args:
            prior: Class frequencies to predict for; by default the stated ones.
        """
        return self.logits(torch.zeros(1, len(self.stated), dtype=torch.float64), prior=prior)[0]
