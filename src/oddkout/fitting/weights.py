"""Weights of a saved classifier: build its networks, and load the weights into them."""

from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from oddkout.fitting.card import CARD, CardRecord
from oddkout.mixture import View
from oddkout.models import NAMES, build_model
from oddkout.models.cosine import SUFFIX, with_cosine_layer
from oddkout.models.encodings import Encoding, encoded_network
from oddkout.models.ensemble import combined
from oddkout.models.foreign import FILE, FOREIGN, load_foreign
from oddkout.models.forest import FOREST, Forest
from oddkout.reading import FileError, reading, regular_size

WEIGHTS = "model.safetensors"

_REPAIR = "the folder is damaged: train the model again"


def loaded_network(
    folder: Path, card: CardRecord, model: Callable[[], nn.Module] | None
) -> nn.Module:
    """The networks that a card describes, with their weights.

    Args:
        folder: The folder of the classifier.
        card: Its card.
        model: For a custom network, a function that builds it.
    """
    path, views = folder / WEIGHTS, card.mixture.views
    if [view.network for view in views] == [FOREIGN]:
        network: nn.Module = load_foreign(folder / FILE, classes=len(card.classes))
    else:
        for view in views:
            if model is None and view.network.removesuffix(SUFFIX) not in (*NAMES, FOREST):
                raise ValueError(
                    f"{folder} was trained with a custom network, {view.network!r}; call "
                    "Classifier.load with model=, a function that builds it"
                )
        if model is None:
            _refuse_claims(path, card)
        with reading(folder / CARD, kind="a card of these networks", repair=_REPAIR):
            network = combined(
                _built(view, model, card) for view in views for _ in range(view.members)
            )
    load_weights(path, network)
    return network


def _refuse_claims(path: Path, card: CardRecord) -> None:
    """Raise if the card describes more weights than the file holds, before they are allocated."""
    claimed = 0
    with reading(path.with_name(CARD), kind="a card of networks", repair=_REPAIR):
        for view in card.mixture.views:
            with torch.device("meta"):
                network = _built(view, None, card)
            tensors = [*network.parameters(), *network.buffers()]
            claimed += view.members * sum(part.numel() * part.element_size() for part in tensors)
    size = regular_size(path)
    if claimed > size:
        raise FileError(
            f"{path} must hold the {claimed:,} bytes of weights that the card describes, got "
            f"{size:,}; {_REPAIR}"
        )


def _built(view: View, model: Callable[[], nn.Module] | None, card: CardRecord) -> nn.Module:
    """A network of a view, without its weights."""
    name, classes = view.network.removesuffix(SUFFIX), len(card.classes)
    shape = card.shape if view.encoding is None else (view.encoding.features,)
    if name == FOREST:
        network: nn.Module = Forest(classes, features=shape[0])
    elif model is None:
        network = build_model(name, shape=shape, classes=classes, generator=torch.Generator())
    else:
        network = model()
    network = network if name == view.network else with_cosine_layer(network)
    return network if view.encoding is None else encoded_network(Encoding(view.encoding), network)


def load_weights(path: Path, model: nn.Module) -> None:
    """Load weights into a model, or raise if they do not fit."""
    with reading(path, kind="the weights that the card describes", repair=_REPAIR):
        from safetensors.torch import load_file

        model.load_state_dict(load_file(path))
        tensors = [*model.parameters(), *model.buffers()]
        if not all(part.isfinite().all() for part in tensors if part.is_floating_point()):
            raise ValueError("they are not finite")
