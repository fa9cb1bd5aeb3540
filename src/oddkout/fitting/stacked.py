"""The weights of several multilayer perceptrons, stacked so that each layer is one product."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from oddkout.checks import Number
from oddkout.models import initialise
from oddkout.randomness import keyed_generator


class StackedPerceptrons:
    """The weights of several perceptrons, stacked along a first axis.

    Args:
        networks: Perceptrons of the same shape.
        has_second: Whether to add a second head, initialised as in ``train``.
        seeds: Seed of each network.
    """

    def __init__(
        self, networks: Sequence[nn.Module], *, has_second: bool, seeds: Sequence[int]
    ) -> None:
        self._layers = [name for name, part in networks[0].named_children()]
        self._kinds = dict(networks[0].named_children())
        self._names = [name for name, _ in networks[0].named_parameters()]
        self._buffers = [dict(network.named_buffers()) for network in networks]
        self.has_dropout = any(
            isinstance(part, nn.Dropout) and part.p > 0 for part in self._kinds.values()
        )
        states = [dict(network.named_parameters()) for network in networks]
        # Weights are stored as (members, inputs, outputs): their gradients then need no copies.
        self.values = [
            torch.stack([_turned(state[name]) for state in states]) for name in self._names
        ]
        self.second: list[Tensor] = []
        last = self._kinds[self._layers[-1]]
        assert isinstance(last, nn.Linear), "can_batch requires it"
        if has_second:
            heads = [nn.Linear(last.in_features, last.out_features) for _ in networks]
            for layer, seed in zip(heads, seeds, strict=True):
                initialise(layer, keyed_generator(seed, 4))
            self.second = [
                torch.stack([_turned(getattr(layer, name)) for layer in heads])
                for name in ("weight", "bias")
            ]
        self._join()

    def _join(self) -> None:
        """Let all weights that decay share one tensor, and all others: an update is then faster."""
        everything = self.values + self.second
        order = sorted(range(len(everything)), key=lambda number: everything[number].ndim <= 2)
        split = sum(value.ndim > 2 for value in everything)
        self._parts = [order[:split], order[split:]]
        # Without biases the second group is empty.
        self.groups = [
            torch.cat([everything[number].flatten() for number in part] or [torch.empty(0)])
            for part in self._parts
        ]
        for group, part in zip(self.groups, self._parts, strict=True):
            sizes = [everything[number].numel() for number in part]
            for number, piece in zip(part, torch.split(group, sizes), strict=True):
                everything[number] = piece.view_as(everything[number]).detach().requires_grad_()
        self.values = everything[: len(self.values)]
        self.second = everything[len(self.values) :]

    def drop_gradients(self) -> None:
        """Forget all gradients."""
        for value in self.values + self.second:
            value.grad = None

    def join_gradients(self) -> None:
        """Give the joined weights their gradients."""
        everything = self.values + self.second
        for group, part in zip(self.groups, self._parts, strict=True):
            grads = [everything[n].grad for n in part]
            group.grad = torch.cat(
                [
                    torch.zeros(everything[n].numel()) if grad is None else grad.flatten()
                    for n, grad in zip(part, grads, strict=True)
                ]
                or [torch.empty(0)]
            )

    def forward(
        self, x: Float[Tensor, "members batch features"], *, dropout: torch.Generator | None
    ) -> tuple[Float[Tensor, "members batch classes"], Tensor | None]:
        """Logits of both heads in training; those of the second are None without one."""
        features = self._features(x, self.values, dropout)
        second = _dense(features, *self.second) if self.second else None
        return self._last(features, self.values), second

    def outputs(
        self, x: Float[Tensor, "members rows features"], values: Sequence[Tensor]
    ) -> Float[Tensor, "members rows classes"]:
        """Logits in evaluation.

        Args:
            values: Stacked weights, such as averaged ones.
        """
        return self._last(self._features(x, values, None), values)

    def _features(
        self, x: Tensor, values: Sequence[Tensor], dropout: torch.Generator | None
    ) -> Tensor:
        """Inputs of the last layer."""
        weights = dict(zip(self._names, values, strict=True))
        for name in self._layers[:-1]:
            layer = self._kinds[name]
            if isinstance(layer, nn.Linear):
                x = _dense(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))
            elif isinstance(layer, nn.ReLU):
                x = x.relu()
            elif isinstance(layer, nn.Dropout) and layer.p > 0 and dropout is not None:
                kept = torch.rand(x.shape, generator=dropout) >= layer.p
                x = x * (kept / (1 - layer.p))
        return x

    def _last(self, features: Tensor, values: Sequence[Tensor]) -> Tensor:
        """Logits of the last layer."""
        weights, name = dict(zip(self._names, values, strict=True)), self._layers[-1]
        return _dense(features, weights[f"{name}.weight"], weights.get(f"{name}.bias"))

    def clip(self, norm: Number | None, value: Number | None) -> Float[Tensor, " members"]:
        """Clip the gradient of each network; return the norms before clipping.

        Gradients that are not finite are set to 0, so that they do not spread.
        """
        gradients = [v.grad for v in self.values + self.second if v.grad is not None]
        parts = [torch.linalg.vector_norm(g.flatten(1), dim=1) for g in gradients]
        norms: Tensor = torch.linalg.vector_norm(torch.stack(parts), dim=0)
        scale = torch.ones_like(norms) if norm is None else (norm / (norms + 1e-6)).clamp(max=1.0)
        scale = torch.where(norms.isfinite(), scale, 0.0)
        is_broken = bool((scale == 0).any())
        for gradient in gradients:
            if is_broken:
                gradient.nan_to_num_(0.0, 0.0, 0.0)
            gradient.mul_(scale.view(-1, *(1,) * (gradient.ndim - 1)))
            if value is not None:
                gradient.clamp_(-value, value)
        return norms

    def states(self, values: Sequence[Tensor]) -> list[dict[str, Tensor]]:
        """The weights of each network by name, with those of its encoding.

        Args:
            values: Stacked weights, such as averaged ones.
        """
        return [
            buffers
            | {
                name: _turned(value[member])
                for name, value in zip(self._names, values, strict=True)
            }
            for member, buffers in enumerate(self._buffers)
        ]


def _dense(
    x: Float[Tensor, "members batch inputs"], weight: Tensor, bias: Tensor | None = None
) -> Float[Tensor, "members batch outputs"]:
    """A dense layer of every network."""
    if bias is None:
        return torch.bmm(x, weight)
    return torch.baddbmm(bias[:, None], x, weight)


def _turned(weights: Tensor) -> Tensor:
    """The transpose of a matrix; biases stay as they are."""
    return weights.detach().T.contiguous() if weights.ndim == 2 else weights.detach().clone()
