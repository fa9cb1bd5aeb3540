"""``card.json``: what a saved classifier is, except for its weights."""

import json
from pathlib import Path
from typing import Any, get_args

from oddkout.mixture import View
from oddkout.models.encodings import EncodingName, EncodingPlan
from oddkout.prior import PriorLedger

CARD = "card.json"
FORMAT = 4
_MOST_MEMBERS = 1000

_VIEW = {
    "method": str,
    "network": str,
    "members": int,
    "weight": float,
    "assumed_prior": list,
    "temperature": float,
    "strength": float,
    "exponent": float,
}


def _is_view(view: Any, *, classes: int) -> bool:
    """Whether a part of a card describes a view."""
    return (
        isinstance(view, dict)
        and all(isinstance(view.get(name), kind) for name, kind in _VIEW.items())
        and len(view["assumed_prior"]) == classes
        and view["members"] >= 1
        and _is_encoding(view.get("encoding"))
    )


def _is_encoding(encoding: Any) -> bool:
    """Whether a part of a card describes an encoding, or none."""
    return encoding is None or (
        isinstance(encoding, dict)
        and encoding.get("name") in get_args(EncodingName)
        and isinstance(encoding.get("columns"), int)
        and all(
            isinstance(encoding.get(name), list)
            and all(
                isinstance(column, int) and 0 <= column < encoding["columns"]
                for column in encoding[name]
            )
            for name in ("coded", "missing")
        )
    )


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


def read_view(values: dict[str, Any], card: dict[str, Any]) -> View:
    """Read the result of ``written_view``; cards of earlier versions have no encoding."""
    encoding = values.get("encoding")
    return View(
        method=values["method"],
        network=values["network"],
        members=values["members"],
        weight=values["weight"],
        encoding=None if encoding is None else EncodingPlan.from_dict(encoding),
        ledger=PriorLedger(
            assumed=tuple(values["assumed_prior"]),
            stated=tuple(card["prior"]),
            train=tuple(card["train_prior"]),
            temperature=values["temperature"],
            strength=values["strength"],
            exponent=values["exponent"],
        ),
    )


def read_card(folder: Path) -> dict[str, Any]:
    """Read the card, or raise if the file is not a valid one."""
    path = folder / CARD
    if not path.is_file():
        raise FileNotFoundError(f"there is no classifier in {folder}: {CARD} is missing")
    try:
        card = json.loads(path.read_text())
        is_card = card["format"] == FORMAT and all(
            isinstance(card[name], kind)
            for name, kind in (
                ("shape", list),
                ("classes", list),
                ("method", str),
                ("prior", list),
                ("train_prior", list),
                ("views", list),
                ("exponent", float),
                ("mean", list),
                ("deviation", list),
                ("details", dict),
            )
        )
    except (ValueError, KeyError, TypeError):
        is_card = False
    if not (
        is_card
        and all(_is_view(view, classes=len(card["classes"])) for view in card["views"])
        and 1 <= sum(view["members"] for view in card["views"]) <= _MOST_MEMBERS
        and len(card["prior"]) == len(card["train_prior"]) == len(card["classes"])
    ):
        raise ValueError(f"{path} is not a card that this version can read; train the model again")
    return dict(card)
