"""A card with wrong values is refused in one sentence that names it, before anything is built."""

import json
import os

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import oddkout as oko

# What is changed, where, and what the error says of it.
WRONG = [
    ("format", 3),
    ("format", None),
    ("shape", []),
    ("shape", [0]),
    ("shape", [-5]),
    ("shape", [2.5]),
    ("shape", ["5"]),
    ("shape", [10**9]),
    ("shape", [5, 10**4, 10**4]),
    ("shape", [10**6, 10**6, 10**6]),
    ("shape", [7]),
    ("classes", []),
    ("classes", ["ill"]),
    ("classes", ["ill", 3]),
    ("classes", ["ill", "ill"]),
    ("classes", [["ill"], "well"]),
    ("classes", [str(i) for i in range(100_001)]),
    ("method", {}),
    ("prior", [0.5, -0.5]),
    ("prior", [float("nan"), 0.5]),
    ("prior", [0.9, 0.9]),
    ("prior", ["a", "b"]),
    ("train_prior", [1, 0]),
    ("train_prior", None),
    ("exponent", 0.0),
    ("exponent", float("inf")),
    ("exponent", "1"),
    ("mean", [float("inf")]),
    ("mean", [0.0, 0.0]),
    ("mean", {}),
    ("deviation", [float("inf")]),
    ("deviation", [0.0]),
    ("deviation", [-1.0]),
    ("deviation", [[1.0]]),
    ("details", []),
    ("details", {"log": json.loads("[" * 60 + "]" * 60)}),
    ("views", []),
    ("views", {}),
    ("views.0", []),
    ("views.0.members", 0),
    ("views.0.members", 10**9),
    ("views.0.members", 3),
    ("views.0.members", True),
    ("views.0.weight", -1.0),
    ("views.0.weight", 0.5),
    ("views.0.temperature", 0.0),
    ("views.0.temperature", float("nan")),
    ("views.0.strength", "x"),
    ("views.0.exponent", -1.0),
    ("views.0.assumed_prior", [1.0]),
    ("views.0.assumed_prior", [0.5, "x"]),
    ("views.0.network", ["mlp"]),
    ("views.0.network", "os:system"),
    ("views.0.network", "cnn"),
    ("views.0.network", "forest"),
    ("views.0.encoding", {"name": "piecewise", "columns": 10**12, "coded": [], "missing": []}),
    ("views.0.encoding", {"name": "piecewise", "columns": 5, "coded": [9], "missing": []}),
    ("views.0.encoding", {"name": "none", "columns": 5, "coded": [], "missing": []}),
    ("views.0.encoding", "standard"),
    ("encoder", []),
    ("encoder.columns", ["u", "v"]),
    ("encoder.columns", ["u", "u", "v", "w"]),
    ("encoder.columns", 3),
    ("encoder.numeric", ["u"]),
    ("encoder.numeric", [["u"], "v"]),
    ("encoder.medians", [0.0]),
    ("encoder.medians", ["x", "y"]),
    ("encoder.means", [0.0]),
    ("encoder.scales", [-1.0, 1.0]),
    ("encoder.scales", [0.0, 1.0]),
    ("encoder.scales", [float("inf"), 1.0]),
    ("encoder.scales", []),
    ("encoder.dates", {"u": "backwards"}),
    ("encoder.dates", {"absent": "day first"}),
    ("encoder.text", []),
    ("encoder.categories", []),
    ("encoder.categories", [[1, 2]]),
    ("encoder.categories", [["p", "p", "q"]]),
    ("encoder.categories", [["p"] * 3, ["q"]]),
    ("encoder.words", ["w"]),
    ("encoder.words", 7),
]


def changed(values, place, value):
    """Set one value, given by the names and positions on the way to it."""
    *way, last = place.split(".")
    for step in way:
        values = values[int(step) if step.isdigit() else step]
    values[int(last) if last.isdigit() else last] = value


@pytest.mark.parametrize(("place", "value"), WRONG, ids=lambda part: str(part)[:40])
def test_a_wrong_value_is_refused(model, place, value):
    card = json.loads((model / "card.json").read_text())
    changed(card, place, value)
    (model / "card.json").write_text(json.dumps(card))
    with pytest.raises(ValueError, match=r"card\.json|model\.safetensors|custom network"):
        oko.Classifier.load(model)


@pytest.mark.parametrize("name", ["format", "views", "encoder", "details", "classes", "mean"])
def test_a_missing_value_is_refused(model, name):
    card = json.loads((model / "card.json").read_text())
    del card[name]
    (model / "card.json").write_text(json.dumps(card))
    with pytest.raises(ValueError, match=r"card\.json"):
        oko.Classifier.load(model)


@pytest.mark.parametrize(
    "content", [b"", b"null", b"[" * 100_000, b"\xff\xfe", b"{}", b'"card"', b'{"format": 4}']
)
def test_something_else_is_refused(model, content):
    (model / "card.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"card\.json cannot be read as a card"):
        oko.Classifier.load(model)


@pytest.mark.parametrize("name", ["card.json", "model.safetensors", "held-out.safetensors"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "empty", "absent"])
def test_only_regular_files_are_opened(model, name, kind):
    (model / name).unlink()
    if kind == "pipe":
        os.mkfifo(model / name)
    elif kind == "device":
        (model / name).symlink_to("/dev/zero")
    elif kind == "folder":
        (model / name).mkdir()
    elif kind == "empty":
        (model / name).touch()
    elif name == "held-out.safetensors":
        oko.Classifier.load(model)
        return
    with pytest.raises((ValueError, OSError), match=name.replace(".", r"\.")):
        oko.Classifier.load(model)


def test_held_out_predictions_must_be_of_this_classifier(model):
    path = model / "held-out.safetensors"
    arrays = load_file(path)
    for change in (
        {"labels": arrays["labels"][:-1]},
        {"labels": arrays["labels"] + 5},
        {"folds": arrays["folds"].astype(np.float64)},
        {"logits": arrays["logits"][:, :1]},
        {"logits": np.full_like(arrays["logits"], np.nan)},
        {"logits": np.zeros((0, 2)), "labels": np.zeros(0, int), "folds": np.zeros(0, int)},
        {"logits": np.array(3.0)},
    ):
        save_file(arrays | change, path, metadata={"source": "members"})
        with pytest.raises(ValueError, match=r"held-out\.safetensors"):
            oko.Classifier.load(model)
