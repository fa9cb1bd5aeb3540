"""The inputs of an exported graph: images in bytes, features, or the columns of a table.

Each kind of input is a module that maps raw inputs to those of the network. It also converts
examples, as ``predict_proba`` takes them, to raw inputs.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32, Float64, Int64, Shaped, UInt8
from numpy import ndarray
from torch import Tensor, nn

from oddkout.data.table import MISSING, TableEncoder
from oddkout.fitting.classifier import Classifier


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


class TableInput(RawInput):
    """The columns of a table: imputed, standardised and one-hot encoded inside the graph.

    The graph takes ``numbers`` in double precision, like the encoder, with NaN for missing cells.
    It also takes ``codes``, the position of each text among the categories of its column, or -1 for
    an unknown text. An ONNX file can hold text, so it takes the columns themselves, by name.

    Args:
        encoder: The encoder that the graph reproduces.
        keeps_missing: Whether missing numbers stay NaN, for networks that encode them themselves.
    """

    medians: Tensor
    means: Tensor
    scales: Tensor
    column: Tensor
    position: Tensor

    def __init__(self, encoder: TableEncoder, *, keeps_missing: bool = False) -> None:
        super().__init__()
        self._keeps_missing = keeps_missing
        state = encoder.to_dict()
        self.numeric: list[str] = state["numeric"]
        self.text: list[str] = state["text"]
        self.categories: list[list[str]] = state["categories"]
        names = (("numbers", self.numeric), ("codes", self.text))
        self.names = tuple(name for name, columns in names if columns)
        for name in ("medians", "means", "scales"):
            self.register_buffer(name, torch.tensor(state[name], dtype=torch.float64))
        sizes = [len(categories) for categories in self.categories]
        positions = [position for size in sizes for position in range(size)]
        # One entry for each one-hot feature: its text column, and the position of its category.
        self.register_buffer(
            "column", torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes).long())
        )
        self.register_buffer("position", torch.tensor(positions).long())

    def forward(self, *given: Shaped[Tensor, "..."]) -> Float32[Tensor, "examples features"]:
        """Encode the columns; the standardised numbers come first."""
        inputs, parts = dict(zip(self.names, given, strict=True)), []
        if "numbers" in inputs:
            numbers: Float64[Tensor, "examples numeric"] = inputs["numbers"]
            imputed = numbers
            if not self._keeps_missing:
                imputed = torch.where(numbers.isnan(), self.medians, numbers)
            parts.append(((imputed - self.means) / self.scales).to(torch.float32))
        if "codes" in inputs:
            codes: Int64[Tensor, "examples text"] = inputs["codes"]
            one_hot = codes.index_select(1, self.column) == self.position
            parts.append(one_hot.to(torch.float32))
        return torch.cat(parts, dim=1)

    def missing_text(self, column: str) -> str:
        """The text that stands for a missing cell: empty, unless empty text is a category."""
        return MISSING if "" in self.categories[self.text.index(column)] else ""

    def code_of(self, column: str) -> dict[str, int]:
        """Code of each known text of a column, including the text for missing cells."""
        categories = self.categories[self.text.index(column)]
        codes = {text: position for position, text in enumerate(categories)}
        if MISSING in codes:
            codes[self.missing_text(column)] = codes[MISSING]
        return codes

    def feed(self, x: Any) -> dict[str, Shaped[ndarray, "..."]]:
        """Columns by name: doubles (NaN if missing) and text (``missing_text`` if missing)."""
        import pandas as pd

        if absent := [name for name in (*self.numeric, *self.text) if name not in _columns(x)]:
            raise ValueError(
                f"examples must be a pandas frame with the columns of the training data, but "
                f"{absent} are missing; pass the table, not its encoded features"
            )
        numbers = {
            name: np.asarray(pd.to_numeric(x[name]), dtype=np.float64) for name in self.numeric
        }
        texts = {
            name: np.where(x[name].isna(), self.missing_text(name), x[name].astype(str))
            for name in self.text
        }
        return numbers | {name: text.astype(object) for name, text in texts.items()}

    def arguments(self, x: Any) -> tuple[Tensor, ...]:
        """Convert examples to the arguments of the graph."""
        columns = self.feed(x)
        given = []
        if self.numeric:
            numbers = np.stack([columns[name] for name in self.numeric], axis=1)
            given.append(torch.from_numpy(numbers))
        if self.text:
            codes = {name: self.code_of(name) for name in self.text}
            coded = [[codes[name].get(cell, -1) for cell in columns[name]] for name in self.text]
            given.append(torch.tensor(coded, dtype=torch.int64).T.contiguous())
        return tuple(given)

    def random_examples(self, examples: int, generator: torch.Generator) -> Any:
        """Rows like the training data, with a tenth of the numbers missing and unknown texts."""
        import pandas as pd

        columns: dict[str, Any] = {}
        for number, name in enumerate(self.numeric):
            noise = torch.randn(examples, generator=generator, dtype=torch.float64)
            noise[torch.rand(examples, generator=generator) < 0.1] = torch.nan
            columns[name] = (self.means[number] + self.scales[number] * noise).numpy()
        for name, categories in zip(self.text, self.categories, strict=True):
            texts = np.array([*categories, "a text that was never seen", None], dtype=object)
            drawn = torch.randint(len(texts), (examples,), generator=generator)
            columns[name] = texts[drawn.numpy()]
        return pd.DataFrame(columns)

    def described(self, *, by_column: bool) -> list[dict[str, Any]]:
        """Describe the inputs for users of the file, as plain values."""
        categories = dict(zip(self.text, self.categories, strict=True))
        if by_column:
            number = {"dtype": "float64", "shape": ["batch"], "missing": "NaN"}
            text = {"dtype": "string", "shape": ["batch"]}
            return [{"name": name} | number for name in self.numeric] + [
                {"name": name}
                | text
                | {"missing": self.missing_text(name), "categories": categories[name]}
                for name in self.text
            ]
        kinds: dict[str, dict[str, Any]] = {
            "numbers": {"dtype": "float64", "columns": self.numeric, "missing": "NaN"},
            "codes": {"dtype": "int64", "columns": categories, "missing": MISSING, "unseen": -1},
        }
        widths = {"numbers": len(self.numeric), "codes": len(self.text)}
        return [{"name": n, "shape": ["batch", widths[n]]} | kinds[n] for n in self.names]


def raw_input(classifier: Classifier, *, mean: Tensor, deviation: Tensor) -> RawInput:
    """The kind of input that a classifier was trained on.

    ``mean`` and ``deviation`` are those of its standardisation, one number per channel.
    """
    if classifier.encoder is not None:
        return TableInput(classifier.encoder, keeps_missing=classifier.mixture.has_gaps)
    kind = classifier.details.get("data", {}).get("dtype", "uint8")
    if len(classifier.shape) == 3 and kind == "uint8":
        return ImageInput(classifier.shape)
    return FeatureInput(classifier.shape, mean=mean[0], deviation=deviation[0])


def _columns(x: Any) -> Any:
    return getattr(x, "columns", ())
