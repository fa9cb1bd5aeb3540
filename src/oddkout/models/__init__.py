"""Networks by name: the paper's CNN and ResNets, an MLP for tables, and custom networks."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from oddkout.checks import Number
from oddkout.models.cnn import cnn
from oddkout.models.initialise import cautious, initialise
from oddkout.models.mlp import mlp
from oddkout.models.resnet import RESNETS, ResNet, resnet

NAMES = ("auto", "mlp", "mlp-small", "linear", "cnn", *RESNETS)

# Widths of the hidden layers of perceptrons, and those whose predictions start almost equal.
_DENSE: dict[str, tuple[int, ...]] = {"mlp": (256, 128), "mlp-small": (64, 64), "linear": ()}
_CAUTIOUS = ("mlp-small", "linear")

__all__ = ["NAMES", "ResNet", "build_model", "cnn", "initialise", "mlp"]


def build_model(
    name: str | Callable[..., Any],
    *,
    shape: tuple[int, ...],
    classes: int,
    generator: torch.Generator,
    dropout: Number = 0.0,
) -> nn.Module:
    """Build a network, with weights drawn from the generator.

    ``name`` is one of

    * ``"mlp"``, ``"mlp-small"`` with two layers of 64, ``"linear"``;
    * ``"cnn"``, ``"resnet18"``, ``"resnet34"``, and ``"resnet18-narrow"`` and
      ``"resnet34-narrow"`` of a quarter of the width;
    * ``"auto"``: the MLP for features and for images below 16 x 16, the CNN for other grey
      images, ResNet18 for the rest;
    * a function or class that returns a module, or its name ``"package.module:factory"``. It is
      called with those of ``shape``, ``classes`` and ``dropout`` that are among its parameters.
      Its weights are left as they are.

    Args:
        name: Name or factory of the network, see above.
        shape: Shape of one example: (features,), or (channels, height, width).
        classes: Number of classes.
        generator: Source of the initial weights.
        dropout: Dropout rate before the last layer.

    Example:
        >>> model = build_model("auto", shape=(1, 28, 28), classes=10, generator=torch.Generator())
        >>> model(torch.zeros(2, 1, 28, 28)).shape
        torch.Size([2, 10])
    """
    if not isinstance(name, str):
        return _called(name, shape=shape, classes=classes, dropout=dropout)
    if ":" in name:
        return _called(_imported(name), shape=shape, classes=classes, dropout=dropout)
    if name not in NAMES:
        raise ValueError(
            f"a model is one of {', '.join(NAMES)} or package.module:factory, got {name!r}"
        )
    if name == "auto":
        is_small = len(shape) != 3 or min(shape[1:]) < 16
        name = "mlp" if is_small else "cnn" if shape[0] == 1 else "resnet18"
    if name not in _DENSE and len(shape) != 3:
        raise ValueError(
            f"{name} needs images of shape (channels, height, width), got examples of shape "
            f"{tuple(shape)}; use mlp"
        )
    with torch.random.fork_rng(devices=[]):  # PyTorch's initial weights are overwritten
        network = initialise(_built_in(name, shape, classes, dropout), generator)
    return network if name not in _CAUTIOUS else cautious(network)


def _built_in(name: str, shape: tuple[int, ...], classes: int, dropout: Number) -> nn.Module:
    """A built-in network with PyTorch's initial weights."""
    if name in _DENSE:
        features = torch.Size(shape).numel()
        return mlp(features=features, classes=classes, widths=_DENSE[name], dropout=dropout)
    channels, height, width = shape
    if name == "cnn":
        return cnn(channels=channels, height=height, width=width, classes=classes, dropout=dropout)
    return resnet(name, channels=channels, classes=classes, dropout=dropout)


def _imported(name: str) -> Callable[..., Any]:
    """Import a user's factory, named as package.module:factory."""
    module, _, attribute = name.partition(":")
    try:
        factory: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"model {name!r} must name a function as package.module:function, but {error}; check "
            "the spelling, and that the package is installed or in the current folder"
        ) from None
    return factory


def _called(factory: Any, **arguments: Any) -> nn.Module:
    """Call a factory with the arguments that are among its parameters."""
    if isinstance(factory, nn.Module) or not callable(factory):
        raise ValueError(
            "a custom model must be a function or class that returns one, got "
            f"{type(factory).__name__}; pass e.g. lambda: nn.Linear(4, 3), so that every training "
            "run starts from new weights"
        )
    parameters = inspect.signature(factory).parameters
    model = factory(**{key: value for key, value in arguments.items() if key in parameters})
    if not isinstance(model, nn.Module):
        raise ValueError(
            f"model {getattr(factory, '__qualname__', factory)!r} must return an nn.Module, got "
            f"{type(model).__name__}"
        )
    return model
