"""Encodings of columns of numbers: the first layer of a network, fitted to its training rows."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from oddkout.checks import one_of

# How a network sees columns of numbers, see ``Encoding``.
EncodingName = Literal["standard", "piecewise", "normal"]

# Bins of piecewise-linear codes, and knots of the transformation to normal scores.
_BINS, _KNOTS = 8, 32

# Normal scores beyond this are cut off, and standardised numbers beyond that.
_LARGEST_SCORE, _LARGEST = 3.0, 100.0


@dataclass(frozen=True, kw_only=True)
class EncodingPlan:
    """What an encoding does with each column; the same for all members of an ensemble.

    Attributes:
        name: The kind of encoding.
        columns: Number of input columns.
        coded: Columns with more than two values. Only these get codes or normal scores.
        missing: Columns with missing cells, each of which gets an indicator.
    """

    name: EncodingName
    columns: int
    coded: tuple[int, ...] = ()
    missing: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        one_of("encoding", self.name, get_args(EncodingName))
        if not all(0 <= column < self.columns for column in (*self.coded, *self.missing)):
            raise ValueError(
                f"coded and missing columns must lie in 0 .. {self.columns - 1}, got {self.coded} "
                f"and {self.missing}"
            )

    @classmethod
    def of(cls, x: Float[Tensor, "rows columns"], *, name: EncodingName) -> "EncodingPlan":
        """The plan for training rows, in which NaN stands for missing cells."""
        is_missing = x.isnan()
        low = torch.where(is_missing, torch.inf, x).amin(dim=0)
        high = torch.where(is_missing, -torch.inf, x).amax(dim=0)
        is_coded = ((x > low) & (x < high)).any(dim=0)
        return cls(
            name=name,
            columns=x.shape[1],
            coded=tuple(is_coded.nonzero().flatten().tolist()),
            missing=tuple(is_missing.any(dim=0).nonzero().flatten().tolist()),
        )

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "EncodingPlan":
        """Read the result of ``to_dict``."""
        return cls(
            name=values["name"],
            columns=values["columns"],
            coded=tuple(values["coded"]),
            missing=tuple(values["missing"]),
        )

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain values."""
        return {
            "name": self.name,
            "columns": self.columns,
            "coded": list(self.coded),
            "missing": list(self.missing),
        }

    @property
    def features(self) -> int:
        """Number of features that the network gets."""
        codes = _BINS * len(self.coded) if self.name == "piecewise" else 0
        return self.columns + codes + len(self.missing)

    @property
    def knots(self) -> int:
        """Number of ramps of each coded column."""
        return {"standard": 0, "piecewise": _BINS, "normal": _KNOTS}[self.name]


class Encoding(nn.Module):
    """Encodes columns of numbers; missing cells become the median, with an indicator.

    * ``"standard"``: each column minus its mean, divided by its standard deviation.
    * ``"piecewise"``: the same, and eight further features for each coded column: a number passes
      through bins with equal numbers of rows, and a feature says how much of its bin lies below
      (Gorishniy et al., NeurIPS 2022).
    * ``"normal"``: coded columns become normal scores of their ranks, up to 3 in absolute value.

    Everything is learned by ``fit`` from the rows that the network is trained on. A column that is
    constant there becomes 0: such as a category that only other rows have.

    Args:
        plan: What to do with each column.

    Example:
        >>> rows = torch.tensor([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
        >>> encoding = Encoding(EncodingPlan.of(rows, name="standard")).fit(rows)
        >>> encoding(torch.tensor([[1.0, 9.0], [torch.nan, 1.0]]))
        tensor([[0., 0.],
                [0., 0.]])
    """

    fill: Tensor
    mean: Tensor
    scale: Tensor
    start: Tensor
    slope: Tensor
    height: Tensor
    base: Tensor

    def __init__(self, plan: EncodingPlan) -> None:
        super().__init__()
        self.plan = plan
        shape = (len(plan.coded), plan.knots)
        self.register_buffer("fill", torch.zeros(plan.columns))
        self.register_buffer("mean", torch.zeros(plan.columns))
        self.register_buffer("scale", torch.ones(plan.columns))
        self.register_buffer("start", torch.zeros(shape))
        self.register_buffer("slope", torch.ones(shape))
        self.register_buffer("height", torch.ones(shape))
        self.register_buffer("base", torch.zeros(shape[:1]))
        self._coded = list(plan.coded)
        self._missing = list(plan.missing)

    def fit(self, x: Float[Tensor, "rows columns"]) -> "Encoding":
        """Learn all parameters from training rows."""
        known = ~x.isnan()
        ordered = torch.where(known, x, torch.inf).sort(dim=0).values
        count = known.sum(dim=0)
        columns = torch.arange(x.shape[1])
        median = ordered[(count - 1).clamp_min(0) // 2, columns]
        self.fill.copy_(torch.where(count > 0, median, 0.0))
        filled = torch.where(known, x, self.fill).double()
        mean, deviation = filled.mean(dim=0), filled.std(dim=0, correction=0)
        is_constant = filled.amax(dim=0) == filled.amin(dim=0)
        self.mean.copy_(mean)
        self.scale.copy_(torch.where(is_constant, 0.0, 1 / deviation.clamp_min(1e-30)))
        if self.plan.knots and self._coded:
            self._fit_ramps(ordered[:, self._coded], known[:, self._coded])
        return self

    def _fit_ramps(
        self, ordered: Float[Tensor, "rows coded"], known: Bool[Tensor, "rows coded"]
    ) -> None:
        """Place ramps between quantiles of the known cells of each coded column."""
        shares = torch.linspace(0, 1, self.plan.knots + 1, dtype=torch.float64)
        if self.plan.name == "normal":  # denser in the tails, where normal scores are steep
            shares = 0.5 - 0.5 * torch.cos(torch.pi * shares)
        count = known.sum(dim=0).clamp_min(1)
        position = shares[:, None] * (count - 1)
        low = position.floor().long()
        high = torch.minimum(low + 1, count - 1)
        columns = torch.arange(ordered.shape[1])
        weight = (position - low).to(ordered)
        below, above = ordered[low, columns], ordered[high, columns]
        edges = below + weight * (above - below)
        edges = torch.where(torch.isfinite(edges), edges, 0.0)
        width = edges.diff(dim=0)
        self.start.copy_(edges[:-1].T)
        # A ramp between equal quantiles stays at 0.
        self.slope.copy_(torch.where(width > 0, 1 / width.clamp_min(1e-30), 0.0).T)
        if self.plan.name == "normal":
            scores = _normal_scores(edges, ordered, count)
            self.base.copy_(scores[:, 0])
            self.height.copy_(scores.diff(dim=1))

    def forward(self, x: Float[Tensor, "rows columns"]) -> Float[Tensor, "*members rows features"]:
        """Encode rows, in which NaN stands for missing cells."""
        is_missing = x.isnan()
        filled = torch.where(is_missing, self.fill, x)
        # In place: new memory for each step would take longer than the step.
        standard = (filled - self.mean).mul_(self.scale).clamp_(-_LARGEST, _LARGEST)
        parts = [standard]
        if self.plan.knots and self._coded:
            ramps = filled[..., self._coded, None] - self.start
            ramps = ramps.mul_(self.slope).clamp_(0, 1)
            if self.plan.name == "piecewise":
                parts.append(ramps.flatten(-2))
            else:
                scores = self.base + ramps.mul_(self.height).sum(dim=-1)
                parts = [standard.index_copy(-1, self._positions(x), scores)]
        if self._missing:
            indicators = is_missing[:, self._missing].to(standard.dtype)
            parts.append(indicators.expand(*standard.shape[:-1], -1))
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)

    @classmethod
    def together(cls, encodings: Sequence["Encoding"]) -> "Encoding":
        """Encodings of the same plan as one, whose output has a first axis for them."""
        stacked = cls(encodings[0].plan)
        for name, _ in encodings[0].named_buffers():
            each = torch.stack([getattr(encoding, name) for encoding in encodings])
            setattr(stacked, name, each[:, None])  # an axis for the rows
        return stacked

    def _positions(self, x: Tensor) -> Tensor:
        """Positions of the coded columns."""
        return torch.tensor(self._coded, device=x.device)

    def extra_repr(self) -> str:
        """Show the kind and the sizes when PyTorch prints the module."""
        return f"{self.plan.name}, {self.plan.columns} columns, {self.plan.features} features"


def encoded_network(encoding: Encoding, network: nn.Module) -> nn.Sequential:
    """A network behind an encoding: one sequence of layers, if the network is one."""
    layers = dict(network.named_children()) if isinstance(network, nn.Sequential) else {}
    return nn.Sequential(OrderedDict(encoding=encoding, **(layers or {"network": network})))


def _normal_scores(
    edges: Float[Tensor, "knots coded"], ordered: Float[Tensor, "rows coded"], count: Tensor
) -> Float[Tensor, "coded knots"]:
    """The normal score of each knot, from its rank among the cells of its column."""
    cells, points = ordered.T.contiguous(), edges.T.contiguous()
    before = torch.searchsorted(cells, points)
    upto = torch.searchsorted(cells, points, right=True)
    # Equal cells share the middle of their ranks.
    rank = (before + upto).double() / 2 / count[:, None]
    scores: Tensor = torch.special.ndtri(rank.clamp(1e-3, 1 - 1e-3))
    return scores.clamp(-_LARGEST_SCORE, _LARGEST_SCORE).to(edges)
