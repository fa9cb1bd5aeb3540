"""A trained classifier on disk: weights and a card, no pickle, no code."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor, nn

from oddkout.calibrators import PriorCorrection, TemperatureScaling
from oddkout.data import as_tensor
from oddkout.data.table import TableEncoder
from oddkout.fitting.training import predict_logits
from oddkout.models import NAMES, build_model

_WEIGHTS, _CARD = "model.safetensors", "card.json"
_FORMAT = 1


@dataclass(kw_only=True)
class Classifier:
    """A trained classifier with all that is needed to use it and to judge it.

    Attributes:
        model: The network, in evaluation mode.
        network: Its name for ``build_model``.
        shape: Shape of one example as the network takes it.
        classes: Names of the classes, in the order of the logits.
        method: Name of the method it was trained by.
        prior: Class frequencies that its probabilities assume: equal ones after balanced training,
            those of the training data otherwise.
        temperature: What its logits are divided by.
        mean: What is taken off its inputs, per channel of images; none for tables, which their
            encoder standardises.
        deviation: What they are then divided by.
        encoder: For tables, how columns become numbers.
        details: Whatever else the card says: metrics with intervals, settings, versions.
    """

    model: nn.Module
    network: str
    shape: tuple[int, ...]
    classes: tuple[str, ...]
    method: str
    prior: tuple[float, ...]
    temperature: float = 1.0
    mean: tuple[float, ...] = (0.0,)
    deviation: tuple[float, ...] = (1.0,)
    encoder: TableEncoder | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def predict_proba(
        self, x: Any, *, prior: Sequence[float] | None = None
    ) -> Float[ndarray, "examples classes"]:
        """Probabilities of the classes.

        Args:
            x: Examples as they were trained on: images in bytes, rows of features, or for a table
                a pandas frame with its columns.
            prior: Class frequencies where the classifier is used, in the order of ``classes``; the
                ones it was trained for if not given.
        """
        if self.encoder is not None and hasattr(x, "columns"):
            x = self.encoder.encode(x)
        inputs = as_tensor(x)
        if tuple(inputs.shape[1:]) != self.shape:
            raise ValueError(
                f"examples must have the shape that the classifier was trained on, {self.shape}, "
                f"got {tuple(inputs.shape[1:])}; scale images to it, or pass the same columns"
            )
        inputs = standardised(inputs, mean=self.mean, deviation=self.deviation)
        logits = predict_logits(self.model, inputs).double()
        scaled = TemperatureScaling(self.temperature)(logits)
        corrected = PriorCorrection(self.prior if prior is None else prior, train_prior=self.prior)
        probs: Float[ndarray, "examples classes"] = corrected.predict_proba(scaled.numpy())
        return probs

    def save(self, folder: str | Path) -> Path:
        """Write the classifier into a folder of its own, whole or not at all.

        Args:
            folder: The folder; it must not exist yet, or hold a classifier.
        """
        from safetensors.torch import save_file

        folder = Path(folder)
        if folder.exists() and not (folder / _CARD).exists() and any(folder.iterdir()):
            raise ValueError(
                f"{folder} holds something that is no classifier; choose another folder"
            )
        card = {
            "format": _FORMAT,
            "network": self.network,
            "shape": list(self.shape),
            "classes": list(self.classes),
            "method": self.method,
            "prior": list(self.prior),
            "temperature": self.temperature,
            "mean": list(self.mean),
            "deviation": list(self.deviation),
            "encoder": None if self.encoder is None else self.encoder.to_dict(),
            "details": self.details,
        }
        text = json.dumps(card, indent=2, allow_nan=False)
        folder.mkdir(parents=True, exist_ok=True)
        weights = {name: value.contiguous() for name, value in self.model.state_dict().items()}
        save_file(weights, folder / f"{_WEIGHTS}.tmp")
        (folder / f"{_CARD}.tmp").write_text(text)
        (folder / f"{_WEIGHTS}.tmp").replace(folder / _WEIGHTS)
        (folder / f"{_CARD}.tmp").replace(folder / _CARD)  # last: a folder with a card is whole
        return folder

    @classmethod
    def load(
        cls, folder: str | Path, *, model: Callable[[], nn.Module] | None = None
    ) -> "Classifier":
        """Read a classifier; nothing that its files say is executed.

        Args:
            folder: The folder it was saved in.
            model: For a network of one's own, a function that makes one without weights: the card
                is not trusted to name code.
        """
        folder = Path(folder)
        card = _read_card(folder)
        shape, classes = tuple(card["shape"]), tuple(card["classes"])
        if model is not None:
            network = model()
        elif card["network"] in NAMES:
            network = build_model(
                card["network"], shape=shape, classes=len(classes), generator=torch.Generator()
            )
        else:
            raise ValueError(
                f"{folder} was trained with a network of one's own, {card['network']!r}; pass "
                "model=, a function that makes it"
            )
        _load_weights(folder / _WEIGHTS, network)
        encoder = card["encoder"]
        return cls(
            model=network.eval(),
            network=card["network"],
            shape=shape,
            classes=classes,
            method=card["method"],
            prior=tuple(card["prior"]),
            temperature=card["temperature"],
            mean=tuple(card["mean"]),
            deviation=tuple(card["deviation"]),
            encoder=None if encoder is None else TableEncoder.from_dict(encoder),
            details=card["details"],
        )


def standardised(
    x: Float[Tensor, "examples ..."], *, mean: Sequence[float], deviation: Sequence[float]
) -> Float[Tensor, "examples ..."]:
    """Inputs less their mean, divided by their deviation, one of each per channel or for all.

    Args:
        x: Inputs; the second axis of images are the channels.
        mean: What to take off.
        deviation: What to divide by.
    """
    shape = (1, -1) + (1,) * (x.ndim - 2)
    return (x - torch.tensor(mean).view(shape)) / torch.tensor(deviation).view(shape)


def _read_card(folder: Path) -> dict[str, Any]:
    """The card, or raise if it is none."""
    path = folder / _CARD
    if not path.is_file():
        raise FileNotFoundError(f"there is no classifier in {folder}: {_CARD} is missing")
    try:
        card = json.loads(path.read_text())
        is_card = card["format"] == _FORMAT and all(
            isinstance(card[name], kind)
            for name, kind in (
                ("network", str),
                ("shape", list),
                ("classes", list),
                ("method", str),
                ("prior", list),
                ("temperature", float),
                ("mean", list),
                ("deviation", list),
                ("details", dict),
            )
        )
    except (ValueError, KeyError, TypeError):
        is_card = False
    if not is_card or len(card["prior"]) != len(card["classes"]):
        raise ValueError(f"{path} is no card of a classifier that this version reads; train anew")
    return dict(card)


def _load_weights(path: Path, model: nn.Module) -> None:
    """Put weights into a model, or raise if they are not its own."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        model.load_state_dict(load_file(path))
    except (SafetensorError, RuntimeError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"{path} does not hold the weights that the card describes ({reason}); the folder is "
            "damaged, train anew"
        ) from None
    if not all(np.isfinite(p.detach().numpy()).all() for p in model.parameters()):
        raise ValueError(f"{path} holds weights that are not finite; train anew")
