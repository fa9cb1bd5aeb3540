"""Layers of several perceptrons at once, each with its forward and its backward pass.

They call the kernels that autograd would call, so the gradients are the same to the last bit. For
networks as small as these, the graph of autograd takes longer than the products.
"""

import torch
from jaxtyping import Float
from torch import Tensor


class Dense:
    """A dense layer of every network.

    Args:
        weight: Weights, stored so that their gradients need no copies.
        bias: Biases; None without them.
    """

    def __init__(
        self,
        weight: Float[Tensor, "members inputs outputs"],
        bias: Float[Tensor, "members outputs"] | None,
        *,
        weight_slope: Float[Tensor, "members inputs outputs"],
        bias_slope: Float[Tensor, "members outputs"] | None,
    ) -> None:
        self._weight, self._weight_slope = weight, weight_slope
        self._turned = weight.transpose(1, 2)
        self._bias = None if bias is None else bias[:, None]
        self._bias_slope = bias_slope
        self._input = torch.empty(0)

    def forward(
        self, x: Float[Tensor, "members rows inputs"], dropout: torch.Generator | None = None
    ) -> Float[Tensor, "members rows outputs"]:
        """The product with the weights, plus the biases."""
        self._input = x
        if self._bias is None:
            return torch.bmm(x, self._weight)
        return torch.baddbmm(self._bias, x, self._weight)

    def backward(
        self, slope: Float[Tensor, "members rows outputs"], *, is_first: bool
    ) -> Float[Tensor, "members rows inputs"] | None:
        """Set the gradients of weights and biases; return that of the input.

        Args:
            slope: Gradient of the output of the last forward pass.
            is_first: Whether the input is data, which needs no gradient.
        """
        torch.bmm(self._input.transpose(1, 2), slope, out=self._weight_slope)
        if self._bias_slope is not None:
            torch.sum(slope, dim=1, out=self._bias_slope)
        return None if is_first else torch.bmm(slope, self._turned)


class Relu:
    """ReLU."""

    def __init__(self) -> None:
        self._output = torch.empty(0)

    def forward(
        self, x: Float[Tensor, "members rows inputs"], dropout: torch.Generator | None
    ) -> Float[Tensor, "members rows inputs"]:
        """The positive parts."""
        self._output = x.relu()
        return self._output

    def backward(
        self, slope: Float[Tensor, "members rows inputs"], *, is_first: bool
    ) -> Float[Tensor, "members rows inputs"] | None:
        """The gradient where the output is positive."""
        given: Tensor = torch.ops.aten.threshold_backward(slope, self._output, 0)
        return given


class Dropout:
    """Dropout, of the same units for all draws of one generator.

    Args:
        share: Share of the units that are dropped.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._factor: Tensor | None = None

    def forward(
        self, x: Float[Tensor, "members rows inputs"], dropout: torch.Generator | None
    ) -> Float[Tensor, "members rows inputs"]:
        """The kept units, scaled up; all of them without a generator."""
        self._factor = None
        if dropout is None:
            return x
        kept = torch.rand(x.shape, generator=dropout) >= self._share
        self._factor = kept / (1 - self._share)
        return x * self._factor

    def backward(
        self, slope: Float[Tensor, "members rows inputs"], *, is_first: bool
    ) -> Float[Tensor, "members rows inputs"] | None:
        """The gradient of the kept units."""
        return slope if self._factor is None else slope * self._factor


StackedLayer = Dense | Relu | Dropout
