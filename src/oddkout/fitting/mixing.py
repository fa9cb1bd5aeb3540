"""Mixup and Remix: train on mixtures of two examples."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor

MixingKind = Literal["none", "mixup", "remix"]

# Remix: how many times as frequent one class must be, and how small the share of the rarer one.
KAPPA, TAU = 3.0, 0.5


@dataclass(frozen=True, kw_only=True)
class Mixing:
    """How the examples of a batch are mixed with each other.

    Attributes:
        partners: For each example, the position of the one it is mixed with.
        share: Share of the example itself in the mixed input.
        label_share: Share of its class in the mixed target.
    """

    partners: Int[Tensor, " batch"]
    share: float
    label_share: Float[Tensor, " batch"]

    def inputs(self, x: Float[Tensor, "batch ..."]) -> Float[Tensor, "batch ..."]:
        """The mixed examples."""
        return self.share * x + (1 - self.share) * x[self.partners.to(x.device)]


def draw_mixing(
    labels: Int[Tensor, " batch"],
    *,
    kind: MixingKind,
    counts: Int[Tensor, " classes"],
    generator: torch.Generator,
) -> Mixing:
    """Draw the share and the partners of a batch.

    Mixup (Zhang et al., ICLR 2018) mixes inputs and targets by the same share, which is uniform
    from 0 to 1 as in its experiments with small images. Remix (Chou et al., ECCV Workshops 2020)
    gives the whole target to the rarer class if the other one is at least
    three times as frequent and the share of the frequent one is below a half.

    Args:
        labels: Classes of the batch.
        kind: ``"mixup"`` or ``"remix"``.
        counts: Number of training examples of each class.
        generator: Source of randomness.
    """
    partners = torch.randperm(len(labels), generator=generator)
    share = torch.rand((), generator=generator).item()
    return Mixing(
        partners=partners,
        share=share,
        label_share=label_shares(labels, labels[partners], share=share, kind=kind, counts=counts),
    )


def label_shares(
    first: Int[Tensor, " batch"],
    second: Int[Tensor, " batch"],
    *,
    share: float,
    kind: MixingKind,
    counts: Int[Tensor, " classes"],
) -> Float[Tensor, " batch"]:
    """Share of the first class in each target.

    Args:
        first: Classes of the examples with the given share.
        second: Classes of their partners.
        share: Share of the first examples in the inputs.
        kind: ``"mixup"`` or ``"remix"``.
        counts: Number of training examples of each class.

    Example:
        >>> one, two = torch.tensor([0]), torch.tensor([1])
        >>> counts = torch.tensor([30, 5])
        >>> label_shares(one, two, share=0.4, kind="remix", counts=counts)
        tensor([0.])
    """
    shares = torch.full(first.shape, share)
    if kind == "remix":
        ratio = counts[first].float() / counts[second]
        shares[(ratio >= KAPPA) & (share < TAU)] = 0.0
        shares[(ratio <= 1 / KAPPA) & (1 - share < TAU)] = 1.0
    return shares
