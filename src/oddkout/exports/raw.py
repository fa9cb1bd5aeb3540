"""The inputs of an exported graph: images in bytes, or features; tables are in ``table_input``.

Each kind of input is a module that maps raw inputs to those of the network. It also converts
examples, as ``predict_proba`` takes them, to raw inputs.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32, Shaped, UInt8
from numpy import ndarray
from torch import Tensor, nn


class RawInput(nn.Module, ABC):
    """Base class of all kinds of input.

    Attributes:
        names: Names of the inputs of the graph, in order.
    """

    names: tuple[str, ...]

    @abstractmethod
    def arguments(self, x: Any) -> tuple[Tensor, ...]:
        """Convert examples to the arguments of the graph."""

    def feed(self, x: Any) -> dict[str, Shaped[ndarray, "..."]]:
        """Convert examples to the inputs of an ONNX session."""
        return {
            name: value.numpy() for name, value in zip(self.names, self.arguments(x), strict=True)
        }

    @abstractmethod
    def random_examples(self, examples: int, generator: torch.Generator) -> Any:
        """Random examples, as ``predict_proba`` takes them."""

    @abstractmethod
    def described(self, *, by_column: bool) -> list[dict[str, Any]]:
        """Describe the inputs (name, dtype, shape ...) for users of the file, as plain values.

        Args:
            by_column: Whether each column of a table is an input, as in an ONNX file.
        """


class ImageInput(RawInput):
    """Images in bytes: (examples, height, width), or (examples, height, width, channels).

    Args:
        shape: Shape of one image for the network: (channels, height, width).
    """

    names = ("images",)

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        channels, height, width = shape
        self.shape = (height, width) if channels == 1 else (height, width, channels)

    def forward(self, images: UInt8[Tensor, "..."]) -> Float32[Tensor, "..."]:
        """Scale to [0, 1] and move the channels first."""
        is_grey = len(self.shape) == 2
        channels_first = images.unsqueeze(1) if is_grey else images.permute(0, 3, 1, 2)
        return channels_first.to(torch.float32) / 255

    def arguments(self, x: Any) -> tuple[Tensor, ...]:
        """Convert examples to the arguments of the graph."""
        images = np.asarray(x)
        if images.shape[1:] == (*self.shape, 1):
            images = images[..., 0]
        if images.dtype != np.uint8 or images.shape[1:] != self.shape:
            raise ValueError(
                f"examples must be bytes of shape (examples, {', '.join(map(str, self.shape))}), "
                f"as the exported graph takes them, got {images.dtype} of shape {images.shape}; "
                "pass images in the form of the training data"
            )
        return (torch.from_numpy(np.ascontiguousarray(images)),)

    def random_examples(self, examples: int, generator: torch.Generator) -> Any:
        """Noise of random brightness and contrast."""
        noise = torch.rand((examples, *self.shape), generator=generator)
        first, second = torch.rand((2, examples), generator=generator).reshape(
            2, examples, *(1 for _ in self.shape)
        )
        return (255 * (first + (second - first) * noise)).to(torch.uint8).numpy()

    def described(self, *, by_column: bool) -> list[dict[str, Any]]:
        """Describe the inputs for users of the file, as plain values."""
        return [{"name": "images", "dtype": "uint8", "shape": ["batch", *self.shape]}]


class FeatureInput(RawInput):
    """Features in the shape that the network takes.

    Args:
        shape: Shape of one example.
        mean: Mean of each channel, for random examples.
        deviation: Standard deviation of each channel, for random examples.
    """

    names = ("features",)

    def __init__(self, shape: tuple[int, ...], *, mean: Tensor, deviation: Tensor) -> None:
        super().__init__()
        self.shape = shape
        self._mean, self._deviation = mean, deviation

    def forward(self, features: Float32[Tensor, "..."]) -> Float32[Tensor, "..."]:
        """Return the features unchanged."""
        return features

    def arguments(self, x: Any) -> tuple[Tensor, ...]:
        """Convert examples to the arguments of the graph."""
        return (torch.from_numpy(np.ascontiguousarray(x, dtype=np.float32)),)

    def random_examples(self, examples: int, generator: torch.Generator) -> Any:
        """Normal noise with the mean and deviation of the training data."""
        noise = torch.randn((examples, *self.shape), generator=generator)
        return (self._mean + self._deviation * noise).numpy()

    def described(self, *, by_column: bool) -> list[dict[str, Any]]:
        """Describe the inputs for users of the file, as plain values."""
        return [{"name": "features", "dtype": "float32", "shape": ["batch", *self.shape]}]
