"""Balance: how a method handles class imbalance, and which prior its logits are for."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Number, Prior, frequencies, one_of

BalanceKind = Literal["none", "resample", "reweight", "adjust"]


@dataclass(frozen=True, kw_only=True)
class Balance:
    """How training handles class imbalance. Sampler, loss and prior ledger all read it here.

    * ``"none"``: natural batches, plain loss. Logits are for the training frequencies.
    * ``"resample"``: classes are drawn with a power of their frequency; with power 0 equally often.
    * ``"reweight"``: natural batches; a class weighs the inverse of its frequency or, with
      ``beta``, of its effective number of examples (Cui et al., CVPR 2019).
    * ``"adjust"``: the log frequencies of the drawn classes are added to the logits in training
      (Menon et al., ICLR 2021), so that the network need not learn them.

    Attributes:
        kind: One of the four.
        power: Resample, adjust: power of the class frequency with which classes are drawn, from 0
            (equal) to 1 (natural).
        tau: Adjust: multiple of the log frequencies that is added.
        beta: Reweight: of the effective number; None for inverse frequencies.

    Example:
        >>> Balance(kind="none").assumed_prior([0.9, 0.1]).tolist()
        [0.9, 0.1]
        >>> Balance(kind="adjust", power=1).assumed_prior([0.9, 0.1]).tolist()
        [0.5, 0.5]
    """

    kind: BalanceKind = "none"
    power: Number = 0.0
    tau: Number = 1.0
    beta: Number | None = None

    def __post_init__(self) -> None:
        one_of("balance", self.kind, get_args(BalanceKind))
        checked_power(self.power)
        if not math.isfinite(self.tau):
            raise ValueError(f"tau must be a finite number, got {self.tau}")
        if self.beta is not None and not 0 <= self.beta < 1:
            raise ValueError(f"beta must lie from 0 to below 1, got {self.beta}")

    def drawn_prior(self, prior: Prior) -> Float[Tensor, " classes"]:
        """Class frequencies among the drawn examples.

        Args:
            prior: Class frequencies of the training data.
        """
        shares = frequencies("prior", prior)
        return to_power(shares, self.power) if self.kind in ("resample", "adjust") else shares

    def offset(self, prior: Prior) -> Float[Tensor, " classes"]:
        """What is added to the logits in training; 0 unless balance is by adjustment.

        Args:
            prior: Class frequencies of the training data.
        """
        drawn = self.drawn_prior(prior)
        return float(self.tau) * drawn.log() if self.kind == "adjust" else torch.zeros_like(drawn)

    def assumed_prior(self, prior: Prior, *, weights: Tensor | None = None) -> Float[Tensor, " _"]:
        """Class frequencies that the logits of the trained network are for.

        Args:
            prior: Class frequencies of the training data.
            weights: Reweight: weight of each class; inverse frequencies if not given.
        """
        drawn = self.drawn_prior(prior)
        if self.kind == "adjust":
            return to_power(drawn, 1 - float(self.tau))
        if self.kind == "reweight":
            weighted = torch.ones_like(drawn) if weights is None else drawn * weights.to(drawn)
            return weighted / weighted.sum()
        return drawn


def to_power(shares: Float[Tensor, " classes"], power: Number) -> Float[Tensor, " classes"]:
    """Frequencies proportional to a power of the given ones.

    Example:
        >>> to_power(torch.tensor([0.8, 0.2]), 0.5)
        tensor([0.6667, 0.3333])
    """
    raised = shares ** float(power)
    return raised / raised.sum()


def checked_power(power: Number) -> Number:
    """Return a power of class frequencies, or raise unless it lies from 0 to 1."""
    if not 0 <= power <= 1:
        raise ValueError(
            "the power of the class frequencies must lie from 0 (equal) to 1 (natural), got "
            f"{power}"
        )
    return power
