"""Networks arranged for prediction from rows of features: similar members as one product."""

import copy
from collections.abc import Hashable, Iterable, Sequence
from itertools import groupby

import torch
from jaxtyping import Float
from torch import Tensor, nn

from oddkout.models.encodings import Encoding
from oddkout.models.ensemble import Ensemble, single_networks
from oddkout.models.forest import Forest

# Rows that pass through similar perceptrons together: what they need fits into a cache.
_ROWS = 125


def in_double(model: nn.Module) -> nn.Module:
    """A module with the outputs of the model for rows of features, in double precision.

    Members of an ensemble that are perceptrons of the same shape become one: each of their layers
    is one product. The model itself is not changed, and forests are shared with it.

    Example:
        >>> ensemble = Ensemble([nn.Sequential(nn.Linear(4, 3)) for _ in range(8)])
        >>> in_double(ensemble)(torch.ones(5, 4).double()).shape
        torch.Size([5, 8, 3])
    """
    if not isinstance(model, Ensemble):
        return _copied(model)
    parts: list[nn.Module] = []
    for shape, group in groupby(single_networks(model), key=_shape):
        members = list(group)
        if shape is None:
            parts.append(Ensemble(map(_copied, members)))
        else:
            parts.append(_Perceptrons(members))  # type: ignore[arg-type]  # each has a shape
    return _Together(parts)


class _Together(nn.Module):
    """Parts of an ensemble; outputs the logits of all members."""

    def __init__(self, parts: Iterable[nn.Module]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)

    def forward(
        self, x: Float[Tensor, "examples features"]
    ) -> Float[Tensor, "examples members classes"]:
        return torch.cat([part(x) for part in self.parts], dim=1)


class _Perceptrons(nn.Module):
    """Perceptrons of the same shape."""

    def __init__(self, networks: Sequence[nn.Sequential]) -> None:
        super().__init__()
        self._steps: list[nn.Module | tuple[Tensor, Tensor] | None] = []
        for layers in zip(*networks, strict=True):
            if isinstance(layers[0], Encoding):
                self._steps.append(Encoding.together(layers).double())
            elif isinstance(layers[0], nn.Linear):
                weight = torch.stack([layer.weight.detach().T for layer in layers]).double()
                bias = [_bias(layer).detach() for layer in layers]
                self._steps.append((weight, torch.stack(bias).double()[:, None]))
            elif isinstance(layers[0], nn.ReLU):
                self._steps.append(None)
        self._members = len(networks)

    def forward(
        self, x: Float[Tensor, "examples features"]
    ) -> Float[Tensor, "examples members classes"]:
        return torch.cat([self._logits(part) for part in torch.split(x, _ROWS)])

    def _logits(self, x: Float[Tensor, "rows features"]) -> Float[Tensor, "rows members classes"]:
        for step in self._steps:
            if step is None:
                x = x.relu_()
            elif isinstance(step, nn.Module):
                x = step(x)
            else:
                x = x if x.ndim == 3 else x.expand(self._members, -1, -1)
                x = torch.baddbmm(step[1], x, step[0])
        return x.transpose(0, 1)


def _shape(network: nn.Module) -> Hashable:
    """What perceptrons must have in common to be one; None for other networks."""
    if not isinstance(network, nn.Sequential):
        return None
    shape: list[Hashable] = []
    for layer in network:
        if type(layer) is Encoding:
            shape.append(layer.plan)
        elif type(layer) is nn.Linear:
            shape.append((layer.in_features, layer.out_features))
        elif type(layer) in (nn.ReLU, nn.Dropout, nn.Flatten):  # rows are flat already
            shape.append(type(layer).__name__)
        else:
            return None
    return tuple(shape)


def _bias(layer: nn.Linear) -> Tensor:
    return layer.weight.new_zeros(layer.out_features) if layer.bias is None else layer.bias


def _copied(network: nn.Module) -> nn.Module:
    """A copy in double precision; a forest is as precise as it is."""
    if isinstance(network, Forest):
        return network
    if isinstance(network, nn.Sequential):
        return nn.Sequential(*map(_copied, network)).eval()
    return copy.deepcopy(network).double()
