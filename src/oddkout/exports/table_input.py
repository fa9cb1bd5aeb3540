"""The columns of a table as the inputs of an exported graph."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float32, Float64, Int64, Shaped
from numpy import ndarray
from torch import Tensor

from oddkout.checks import few
from oddkout.data.categories import MISSING, RARE
from oddkout.data.table import TableEncoder
from oddkout.exports.raw import RawInput


class TableInput(RawInput):
    """The columns of a table: imputed, standardised and one-hot encoded inside the graph.

    The graph takes ``numbers`` in double precision, like the encoder, with NaN for missing cells.
    Dates are days since 1970-01-01. It also takes ``codes``, the position of each text among the
    categories of its column; that of the rare ones for an unknown text, or -1 if there are none. An
    ONNX file can hold text, so it takes the columns themselves, by name.

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
        if state["words"]:
            raise ValueError(
                f"columns {few(state['words'])} hold text, whose words a graph cannot hash; train "
                "without text columns to export, or predict with the classifier itself"
            )
        self._encoder = encoder
        self.dates: dict[str, str] = state["dates"]
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

    def unknown_code(self, column: str) -> int:
        """Code of a text that is no category: that of the rare ones, or -1 if there are none."""
        return self.code_of(column).get(RARE, -1)

    def feed(self, x: Any) -> dict[str, Shaped[ndarray, "..."]]:
        """Columns by name: doubles (NaN if missing) and text (``missing_text`` if missing)."""
        if absent := [name for name in (*self.numeric, *self.text) if name not in _columns(x)]:
            raise ValueError(
                f"examples must be a pandas frame with the columns of the training data, but "
                f"{absent} are missing; pass the table, not its encoded features"
            )
        numbers = {name: self._encoder.numbers_of(name, x) for name in self.numeric}
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
            coded = [
                [codes[name].get(cell, self.unknown_code(name)) for cell in columns[name]]
                for name in self.text
            ]
            given.append(torch.tensor(coded, dtype=torch.int64).T.contiguous())
        return tuple(given)

    def random_examples(self, examples: int, generator: torch.Generator) -> Any:
        """Rows like the training data, with a tenth of the numbers missing and unknown texts."""
        import pandas as pd

        columns: dict[str, Any] = {}
        for number, name in enumerate(self.numeric):
            noise = torch.randn(examples, generator=generator, dtype=torch.float64)
            noise[torch.rand(examples, generator=generator) < 0.1] = torch.nan
            values = (self.means[number] + self.scales[number] * noise).numpy()
            columns[name] = _as_dates(values) if name in self.dates else values
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
            days = {"unit": "days since 1970-01-01"}
            text = {"dtype": "string", "shape": ["batch"]}
            return [
                {"name": name} | number | (days if name in self.dates else {})
                for name in self.numeric
            ] + [
                {"name": name}
                | text
                | {"missing": self.missing_text(name), "categories": categories[name]}
                for name in self.text
            ]
        kinds: dict[str, dict[str, Any]] = {
            "numbers": {"dtype": "float64", "columns": self.numeric, "missing": "NaN"}
            | ({"days since 1970-01-01": list(self.dates)} if self.dates else {}),
            "codes": {
                "dtype": "int64",
                "columns": categories,
                "missing": MISSING,
                "unseen": {name: self.unknown_code(name) for name in self.text},
            },
        }
        widths = {"numbers": len(self.numeric), "codes": len(self.text)}
        return [{"name": n, "shape": ["batch", widths[n]]} | kinds[n] for n in self.names]


def _as_dates(days: Shaped[ndarray, " examples"]) -> Any:
    """Days since 1970-01-01 as a pandas series of dates."""
    import pandas as pd

    return pd.Series(pd.to_datetime(days, unit="D", errors="coerce"))


def _columns(x: Any) -> Any:
    return getattr(x, "columns", ())
