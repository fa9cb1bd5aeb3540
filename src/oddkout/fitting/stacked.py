"""The weights of several multilayer perceptrons, stacked so that each layer is one product."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from oddkout.checks import Number
from oddkout.fitting.stacked_layers import Dense, Dropout, Relu, StackedLayer
from oddkout.models import initialise
from oddkout.randomness import keyed_generator


class StackedPerceptrons:
    """Several perceptrons, their weights stacked along a first axis.

    Args:
        networks: Perceptrons of the same shape.
        has_second: Whether to add a second head, initialised as in ``train``.
        seeds: Seed of each network.

    Attributes:
        groups: All weights that decay in one tensor, and all others: an update is then faster.
        gradients: Their gradients, which ``backward`` sets.
        averages: Their averages, at first copies.
    """

    def __init__(
        self, networks: Sequence[nn.Module], *, has_second: bool, seeds: Sequence[int]
    ) -> None:
        self._modules = dict(networks[0].named_children())
        self._names = [name for name, _ in networks[0].named_parameters()]
        self._buffers = [dict(network.named_buffers()) for network in networks]
        *_, last = self._modules.values()
        assert isinstance(last, nn.Linear), "can_batch requires it"
        states = [dict(network.named_parameters()) for network in networks]
        # Weights are stored as (members, inputs, outputs): their gradients then need no copies.
        values = [torch.stack([_turned(state[name]) for state in states]) for name in self._names]
        if has_second:
            heads = [nn.Linear(last.in_features, last.out_features) for _ in networks]
            for layer, seed in zip(heads, seeds, strict=True):
                initialise(layer, keyed_generator(seed, 4))
            values += [
                torch.stack([_turned(getattr(layer, name)) for layer in heads])
                for name in ("weight", "bias")
            ]
        self._shapes = [value.shape for value in values]
        self.groups = _joined(values)
        self.gradients = [torch.zeros_like(group) for group in self.groups]
        self.averages = [group.clone() for group in self.groups]
        self._slopes = self.parts_of(self.gradients)
        everything, count = self.parts_of(self.groups), len(self._names)
        self._hidden, self._last = self._layers(everything)
        self._second = None
        if has_second:
            weight, bias = everything[count:]
            self._second = Dense(
                weight, bias, weight_slope=self._slopes[count], bias_slope=self._slopes[count + 1]
            )
        self._averaged = self._layers(self.parts_of(self.averages))

    @property
    def has_dropout(self) -> bool:
        """Whether units are dropped in training."""
        return any(isinstance(layer, Dropout) for layer in self._hidden)

    def _layers(self, values: Sequence[Tensor]) -> tuple[list[StackedLayer], Dense]:
        """All layers with given weights: those before the last one, and the last one."""
        weights = dict(zip(self._names, values, strict=False))
        slopes = dict(zip(self._names, self._slopes, strict=False))
        layers: list[StackedLayer] = []
        for name, module in self._modules.items():
            if isinstance(module, nn.Linear):
                last = Dense(
                    weights[f"{name}.weight"],
                    weights.get(f"{name}.bias"),
                    weight_slope=slopes[f"{name}.weight"],
                    bias_slope=slopes.get(f"{name}.bias"),
                )
                layers.append(last)
            elif isinstance(module, nn.ReLU):
                layers.append(Relu())
            elif isinstance(module, nn.Dropout) and module.p > 0:
                layers.append(Dropout(module.p))
        return layers[:-1], last

    def forward(
        self, x: Float[Tensor, "members batch features"], *, dropout: torch.Generator | None
    ) -> tuple[Float[Tensor, "members batch classes"], Tensor | None]:
        """Logits of both heads in training; those of the second are None without one."""
        for layer in self._hidden:
            x = layer.forward(x, dropout)
        second = None if self._second is None else self._second.forward(x)
        return self._last.forward(x), second

    def backward(
        self, logits: Float[Tensor, "members batch classes"], second: Tensor | None = None
    ) -> None:
        """Set ``gradients``, from the gradients of the logits that ``forward`` returned last.

        Args:
            logits: Gradient of the logits.
            second: Gradient of those of the second head; None if they have no effect.
        """
        slope = self._last.backward(logits, is_first=not self._hidden)
        if self._second is not None:
            given = torch.zeros_like(logits) if second is None else second
            own = self._second.backward(given, is_first=not self._hidden)
            slope = slope if slope is None or own is None else own + slope
        for number in range(len(self._hidden) - 1, -1, -1):
            if slope is not None:
                slope = self._hidden[number].backward(slope, is_first=number == 0)

    def averaged_outputs(
        self, x: Float[Tensor, "members rows features"]
    ) -> Float[Tensor, "members rows classes"]:
        """Logits in evaluation, with the averaged weights."""
        hidden, last = self._averaged
        for layer in hidden:
            x = layer.forward(x, None)
        return last.forward(x)

    def move_averages(self, share: float) -> None:
        """Move the averages towards the weights.

        Args:
            share: Weight of the current weights.
        """
        for old, new in zip(self.averages, self.groups, strict=True):
            old.lerp_(new, share)

    def clip(self, norm: Number | None, value: Number | None) -> Float[Tensor, " members"]:
        """Clip the gradient of each network; return the norms before clipping.

        Gradients that are not finite are set to 0, so that they do not spread.
        """
        parts = [torch.linalg.vector_norm(slope.flatten(1), dim=1) for slope in self._slopes]
        norms: Tensor = torch.linalg.vector_norm(torch.stack(parts), dim=0)
        scale = torch.ones_like(norms) if norm is None else (norm / (norms + 1e-6)).clamp(max=1.0)
        scale = torch.where(norms.isfinite(), scale, 0.0)
        is_broken = bool((scale == 0).any())
        for slope in self._slopes:
            if is_broken:
                slope.nan_to_num_(0.0, 0.0, 0.0)
            slope.mul_(scale.view(-1, *(1,) * (slope.ndim - 1)))
            if value is not None:
                slope.clamp_(-value, value)
        return norms

    def parts_of(self, joined: Sequence[Float[Tensor, " _"]]) -> list[Float[Tensor, "members ..."]]:
        """The parts that belong to each layer, then those of the second head.

        Args:
            joined: Tensors like ``groups``.
        """
        parts: list[Tensor] = [torch.empty(0)] * len(self._shapes)
        for whole, numbers in zip(joined, _split(self._shapes), strict=True):
            sizes = [self._shapes[number].numel() for number in numbers]
            for number, part in zip(numbers, torch.split(whole, sizes), strict=True):
                parts[number] = part.view(self._shapes[number])
        return parts

    def states_of(self, joined: Sequence[Float[Tensor, " _"]]) -> list[dict[str, Tensor]]:
        """The weights of each network by name, with those of its encoding.

        Args:
            joined: Tensors like ``groups``.
        """
        parts = dict(zip(self._names, self.parts_of(joined), strict=False))  # without second heads
        return [
            buffers | {name: _turned(part[member]) for name, part in parts.items()}
            for member, buffers in enumerate(self._buffers)
        ]


def _split(shapes: Sequence[torch.Size]) -> tuple[list[int], list[int]]:
    """Positions of the weights that decay, and of the biases, which do not."""
    matrices = [number for number, shape in enumerate(shapes) if len(shape) > 2]
    return matrices, [number for number, shape in enumerate(shapes) if len(shape) <= 2]


def _joined(values: Sequence[Tensor]) -> list[Float[Tensor, " _"]]:
    """All weights that decay as one tensor, and all others; without biases it is empty."""
    return [
        torch.cat([values[number].flatten() for number in part] or [torch.empty(0)])
        for part in _split([value.shape for value in values])
    ]


def _turned(weights: Tensor) -> Tensor:
    """The transpose of a matrix; biases stay as they are."""
    return weights.detach().T.contiguous() if weights.ndim == 2 else weights.detach().clone()
