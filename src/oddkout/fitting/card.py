"""``card.json``: what a saved classifier is, except for its weights."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import to_builtins

from oddkout.checks import few
from oddkout.data.dates import DateOrder
from oddkout.data.table import TableEncoder
from oddkout.data.words import WORD_FEATURES
from oddkout.fitting.preparation import Standardisation
from oddkout.mixture import Mixture, View
from oddkout.models.encodings import EncodingName, EncodingPlan
from oddkout.prior import PriorLedger
from oddkout.records import read_record

CARD = "card.json"
FORMAT = 4

_KIND, _REPAIR = "a card that this version knows", "the folder is damaged: train the model again"
_MOST_MEMBERS, _MOST_CLASSES, _MOST_COLUMNS, _MOST_FEATURES = 1000, 100_000, 1_000_000, 10_000_000

_Positive = Annotated[float, msgspec.Meta(gt=0)]
_Frequencies = Annotated[
    tuple[_Positive, ...], msgspec.Meta(min_length=2, max_length=_MOST_CLASSES)
]
_Names = Annotated[list[str], msgspec.Meta(max_length=_MOST_COLUMNS)]
_Size = Annotated[int, msgspec.Meta(ge=1, le=_MOST_FEATURES)]
_Places = tuple[Annotated[int, msgspec.Meta(ge=0)], ...]


class EncodingRecord(msgspec.Struct, frozen=True):
    """The part of a card on how networks see rows of features."""

    name: EncodingName
    columns: _Size
    coded: _Places
    missing: _Places


class ViewRecord(msgspec.Struct, frozen=True):
    """The part of a card on the networks of one method; earlier versions know no encoding."""

    method: str
    network: str
    members: Annotated[int, msgspec.Meta(ge=1, le=_MOST_MEMBERS)]
    weight: Annotated[float, msgspec.Meta(ge=0, le=1.001)]
    assumed_prior: _Frequencies
    temperature: _Positive
    strength: float
    exponent: _Positive
    encoding: EncodingRecord | None = None


class EncoderRecord(msgspec.Struct, frozen=True):
    """The part of a card on the columns of a table; see ``TableEncoder.to_dict``."""

    columns: _Names
    numeric: _Names
    medians: tuple[float, ...]
    means: tuple[float, ...]
    scales: tuple[_Positive, ...]
    text: _Names
    categories: tuple[_Names, ...]
    dates: dict[str, DateOrder] = {}
    words: _Names = []

    def __post_init__(self) -> None:
        used = (*self.numeric, *self.text, *self.words)
        _require(len(set(used)) == len(used), "every column must be encoded once")
        _require(sorted(used) == sorted(self.columns), "exactly its columns must be encoded")
        for part in (self.medians, self.means, self.scales):
            _require(len(part) == len(self.numeric), "numeric columns need three numbers each")
        _require(len(self.categories) == len(self.text), "a column of text needs its categories")
        for seen in self.categories:
            _require(len(set(seen)) == len(seen), f"categories must differ, got {few(seen)}")
        _require(self.dates.keys() <= set(self.numeric), "dates must be numeric columns")

    @property
    def features(self) -> int:
        """Number of features that the encoder gives to the network."""
        words = WORD_FEATURES * len(self.words)
        return len(self.numeric) + sum(map(len, self.categories)) + words

    def restored(self) -> TableEncoder:
        """The encoder."""
        return TableEncoder.from_dict(to_builtins(self))


class CardRecord(msgspec.Struct, frozen=True):
    """What a card must hold to predict with the classifier; ``details`` are for readers."""

    format: int
    shape: Annotated[tuple[_Size, ...], msgspec.Meta(min_length=1, max_length=4)]
    classes: Annotated[tuple[str, ...], msgspec.Meta(min_length=2, max_length=_MOST_CLASSES)]
    method: str
    prior: _Frequencies
    train_prior: _Frequencies
    views: Annotated[tuple[ViewRecord, ...], msgspec.Meta(min_length=1, max_length=_MOST_MEMBERS)]
    exponent: _Positive
    mean: Annotated[tuple[float, ...], msgspec.Meta(min_length=1)]
    deviation: Annotated[tuple[_Positive, ...], msgspec.Meta(min_length=1)]
    encoder: EncoderRecord | None
    details: dict[str, Any]

    def __post_init__(self) -> None:
        _require(self.format == FORMAT, f"its format must be {FORMAT}, got {self.format}")
        count = len(self.classes)
        _require(len(set(self.classes)) == count, "classes must have different names")
        for part in (self.prior, self.train_prior, *(view.assumed_prior for view in self.views)):
            _require(len(part) == count, f"{count} classes need {count} frequencies")
        members = sum(view.members for view in self.views)
        _require(members <= _MOST_MEMBERS, f"{members} networks are more than {_MOST_MEMBERS}")
        _require(len(self.mean) == len(self.deviation), "every mean must have its deviation")
        _require(len(self.mean) in (1, self.shape[0]), "means must be of the columns or channels")
        for view in self.views:
            if view.encoding is not None:
                is_same = self.shape == (view.encoding.columns,)
                _require(is_same, f"an encoding must be of examples of shape {self.shape}")
        if self.encoder is not None:
            width = self.encoder.features
            _require(self.shape == (width,), f"its columns give {width} features")
        _ = self.mixture  # raises for frequencies and weights that do not sum to 1

    @property
    def mixture(self) -> Mixture:
        """How the networks predict together."""
        return Mixture(views=tuple(map(self._view, self.views)), exponent=self.exponent)

    @property
    def standardisation(self) -> Standardisation:
        """Scaling of the inputs."""
        return Standardisation(self.mean, self.deviation)

    def _view(self, view: ViewRecord) -> View:
        """The result of ``written_view`` as it was."""
        encoding = view.encoding
        return View(
            method=view.method,
            network=view.network,
            members=view.members,
            weight=view.weight,
            encoding=None if encoding is None else EncodingPlan.from_dict(to_builtins(encoding)),
            ledger=PriorLedger(
                assumed=view.assumed_prior,
                stated=self.prior,
                train=self.train_prior,
                temperature=view.temperature,
                strength=view.strength,
                exponent=view.exponent,
            ),
        )


def _require(holds: bool, sentence: str) -> None:
    """Raise unless a condition between the values of a card holds."""
    if not holds:
        raise ValueError(sentence)


def written_view(view: View) -> dict[str, Any]:
    """A view as plain values."""
    return {
        "method": view.method,
        "network": view.network,
        "members": view.members,
        "weight": float(view.weight),
        "encoding": None if view.encoding is None else view.encoding.to_dict(),
        "assumed_prior": list(view.ledger.assumed),
        "temperature": float(view.ledger.temperature),
        "strength": float(view.ledger.strength),
        "exponent": float(view.ledger.exponent),
    }


def read_card(folder: Path) -> CardRecord:
    """Read the card, or raise if the file is not a valid one."""
    path = folder / CARD
    if not path.exists():
        raise FileNotFoundError(f"there is no classifier in {folder}: {CARD} is missing")
    return read_record(path, CardRecord, kind=_KIND, repair=_REPAIR)
