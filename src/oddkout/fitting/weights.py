"""Weights of a saved classifier: build its networks, and load the weights into them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

from oddkout.mixture import View
from oddkout.models import build_model
from oddkout.models.cosine import SUFFIX, with_cosine_layer
from oddkout.models.encodings import Encoding, encoded_network
from oddkout.models.forest import FOREST, Forest


def built_network_of(
    view: View, model: Callable[[], nn.Module] | None, *, shape: tuple[int, ...], classes: int
) -> nn.Module:
    """A network of a view, without its weights."""
    name = view.network.removesuffix(SUFFIX)
    if view.encoding is not None:
        shape = (view.encoding.features,)
    if name == FOREST:
        network: nn.Module = Forest(classes)
    elif model is None:
        network = build_model(name, shape=shape, classes=classes, generator=torch.Generator())
    else:
        network = model()
    network = network if name == view.network else with_cosine_layer(network)
    return network if view.encoding is None else encoded_network(Encoding(view.encoding), network)


def load_weights(path: Path, model: nn.Module) -> None:
    """Load weights into a model, or raise if they do not fit."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        model.load_state_dict(load_file(path))
    except (SafetensorError, RuntimeError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"{path} does not hold the weights that the card describes ({reason}); the folder is "
            "damaged: train the model again"
        ) from None
    if not all(np.isfinite(p.detach().numpy()).all() for p in model.parameters()):
        raise ValueError(f"{path} holds weights that are not finite; train the model again")
