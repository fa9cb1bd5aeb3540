"""An ensemble: networks that predict together."""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Ensemble(nn.Module):
    """Several networks; outputs the logits of each, which ``PriorLedger.combined`` combines.

    Args:
        members: Networks with the same classes.

    Example:
        >>> ensemble = Ensemble([nn.Linear(4, 3), nn.Linear(4, 3)])
        >>> ensemble(torch.ones(5, 4)).shape
        torch.Size([5, 2, 3])
    """

    def __init__(self, members: Iterable[nn.Module]) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)

    def forward(
        self, x: Float[Tensor, "examples ..."]
    ) -> Float[Tensor, "examples members classes"]:
        """Logits of every member."""
        return torch.stack([member(x) for member in self.members], dim=1)


def single_networks(model: nn.Module) -> list[nn.Module]:
    """The members of an ensemble, or the only network."""
    return list(model.members) if isinstance(model, Ensemble) else [model]


def combined(members: Iterable[nn.Module]) -> nn.Module:
    """The only member itself, or the ensemble of several."""
    networks = list(members)
    return networks[0] if len(networks) == 1 else Ensemble(networks)
