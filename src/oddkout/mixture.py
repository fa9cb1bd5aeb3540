"""Mixtures: networks of one or several methods that predict together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.calibrators import PriorCorrection
from oddkout.checks import Number
from oddkout.models.encodings import EncodingPlan
from oddkout.models.forest import FOREST
from oddkout.prior import Frequencies, PriorLedger

# Pseudo-examples that pull the weights of views towards equal ones.
PSEUDO_EXAMPLES = 20.0
_EM_STEPS = 200


@dataclass(frozen=True, kw_only=True)
class View:
    """The networks of one method in a classifier.

    Attributes:
        method: Name of the method.
        network: Name of the network.
        ledger: Class frequencies and calibration of its logits.
        members: Number of its networks, whose probabilities are averaged.
        weight: Its share of the prediction.
        encoding: How its networks see rows of features; None if as they are.
    """

    method: str
    network: str
    ledger: PriorLedger
    members: int = 1
    weight: Number = 1.0
    encoding: EncodingPlan | None = None

    @property
    def title(self) -> str:
        """What distinguishes the view from others of its classifier."""
        if self.network == FOREST:
            return FOREST
        parts = (self.method, None if self.encoding is None else self.encoding.name, self.network)
        return ", ".join(part for part in parts if part is not None)


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """Combines the networks of all views to one prediction.

    Attributes:
        views: The views, in the order of their networks.
        exponent: Power of the mean probabilities of several views; above 1 sharpens them.
    """

    views: tuple[View, ...]
    exponent: Number = 1.0

    def __post_init__(self) -> None:
        weights = [view.weight for view in self.views]
        if not weights or min(weights) < 0 or not math.isclose(sum(weights), 1, abs_tol=1e-6):
            raise ValueError(f"the weights of the views must sum to 1, got {weights}")
        if len({view.ledger.stated for view in self.views}) > 1:
            raise ValueError("all views must predict for the same class frequencies")
        if not (self.exponent > 0 and math.isfinite(self.exponent)):
            raise ValueError(f"exponent must be a positive number, got {self.exponent}")

    @property
    def stated(self) -> Frequencies:
        """Class frequencies that probabilities are for by default."""
        return self.views[0].ledger.stated

    @property
    def train(self) -> Frequencies:
        """Class frequencies of the training data."""
        return self.views[0].ledger.train

    @property
    def members(self) -> int:
        """Number of networks of all views."""
        return sum(view.members for view in self.views)

    @property
    def has_gaps(self) -> bool:
        """Whether networks encode missing cells themselves, instead of the encoder of a table."""
        return any(view.encoding is not None and view.encoding.missing for view in self.views)

    @property
    def temperature(self) -> float:
        """Temperature of the logits; the weighted mean if there are several views."""
        return sum(float(view.weight * view.ledger.temperature) for view in self.views)

    @property
    def strength(self) -> float:
        """Strength of prior adjustment; the weighted mean if there are several views."""
        return sum(float(view.weight * view.ledger.strength) for view in self.views)

    def combined(
        self, logits: Float[Tensor, "examples *members classes"], *, prior: Any = None
    ) -> Float[Tensor, "examples classes"]:
        """Logits of the prediction of all networks together.

        Args:
            logits: Logits of every network, in the order of the views; those of a single network
                may lack the second axis.
            prior: Class frequencies to predict for; by default the stated ones.
        """
        if len(self.views) == 1:
            return self.views[0].ledger.combined(logits, prior=prior)
        sections = torch.split(logits, [view.members for view in self.views], dim=1)
        together = mixed(
            [
                view.ledger.combined(section).log_softmax(dim=1)
                for view, section in zip(self.views, sections, strict=True)
            ],
            weights=[float(view.weight) for view in self.views],
        )
        together = together * float(self.exponent)
        if prior is not None:
            together = PriorCorrection(prior, train_prior=self.stated)(together)
        return together

    def by_member(
        self, logits: Float[Tensor, "examples members classes"]
    ) -> Float[Tensor, "examples folds classes"]:
        """Logits of the prediction of each fold's networks alone, as they are scored out of fold.

        Args:
            logits: Logits of every network, in the order of the views; every view has one network
                per fold.
        """
        if len({view.members for view in self.views}) > 1:
            raise ValueError("all views must have as many members, one per fold")
        sections = torch.split(logits, [view.members for view in self.views], dim=1)
        flat = [
            view.ledger.logits(section.flatten(0, 1)).log_softmax(dim=1)
            for view, section in zip(self.views, sections, strict=True)
        ]
        together = flat[0]
        if len(flat) > 1:
            weights = [float(view.weight) for view in self.views]
            together = mixed(flat, weights=weights) * float(self.exponent)
        return together.reshape(sections[0].shape)


def mixed(
    log_probs: Sequence[Float[Tensor, "examples classes"]], *, weights: Sequence[float]
) -> Float[Tensor, "examples classes"]:
    """Logarithm of the weighted mean of probabilities.

    Args:
        log_probs: Log-probabilities of each view.
        weights: Weight of each view; they sum to 1.
    """
    shares = torch.tensor(weights, dtype=torch.float64).log()
    parts = [part.double() + share for part, share in zip(log_probs, shares, strict=True)]
    return torch.stack(parts).logsumexp(dim=0)


def mixture_weights(
    likelihoods: Float[Tensor, "examples views"],
    *,
    importance: Float[Tensor, " examples"],
    pseudo_examples: Number = PSEUDO_EXAMPLES,
) -> tuple[float, ...]:
    """Weights of views that make the true classes most probable, found by EM.

    A few pseudo-examples that all views predict equally well pull the weights towards equal ones,
    so that chance in a small data set cannot exclude a view.

    Args:
        likelihoods: Probability that each view gives to the true class of each example.
        importance: Weight of each example; they sum to 1.
        pseudo_examples: Number of pseudo-examples.

    Example:
        >>> probs = torch.tensor([[0.9, 0.1]] * 1000)
        >>> weights = mixture_weights(probs, importance=torch.full((1000,), 1e-3))
        >>> [round(weight, 2) for weight in weights]
        [0.99, 0.01]
    """
    count, views = likelihoods.shape
    pseudo = pseudo_examples / (count + pseudo_examples)
    rows, share = likelihoods.double().clamp_min(1e-300), importance.double()
    weights = torch.full((views,), 1 / views, dtype=torch.float64)
    for _ in range(_EM_STEPS):
        joint = rows * weights
        mean = share @ (joint / joint.sum(dim=1, keepdim=True))
        weights = (1 - pseudo) * mean + pseudo / views
    return tuple((weights / weights.sum()).tolist())
