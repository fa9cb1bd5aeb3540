"""Networks by name: the paper's CNN and ResNets, an MLP for tables, and anybody's own."""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from oddkout.checks import Number
from oddkout.models.cnn import cnn
from oddkout.models.initialise import initialise
from oddkout.models.mlp import mlp
from oddkout.models.resnet import RESNETS, ResNet, resnet

NAMES = ("auto", "mlp", "cnn", *RESNETS)

__all__ = ["NAMES", "ResNet", "build_model", "cnn", "initialise", "mlp"]


def build_model(
    name: str | Callable[..., Any],
    *,
    shape: tuple[int, ...],
    classes: int,
    generator: torch.Generator,
    dropout: Number = 0.0,
) -> nn.Module:
    """Build a network for examples of a shape, its weights drawn from the generator.

    Args:
        name: ``"mlp"``, ``"cnn"``, ``"resnet18"``, ``"resnet34"``, the latter two also of a quarter
            of the width, ``"resnet18-narrow"`` and ``"resnet34-narrow"``; ``"auto"`` for what fits
            the shape: an MLP for features and images below 16 x 16, the CNN for grey images,
            ResNet18 for others; or a function or class, itself or named
            ``"package.module:factory"``, that is called with those of ``shape``, ``classes`` and
            ``dropout`` that it names and returns a module. A module of one's own keeps the weights
            it was made with.
        shape: Shape of one example: (features,), or (channels, height, width).
        classes: Number of classes.
        generator: Source of the weights.
        dropout: Share of the last features that training drops.

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
    if name != "mlp" and len(shape) != 3:
        raise ValueError(
            f"{name} needs images of shape (channels, height, width), got examples of shape "
            f"{tuple(shape)}; use mlp"
        )
    with torch.random.fork_rng(devices=[]):  # layers draw first weights that are not kept
        return initialise(_made(name, shape, classes, dropout), generator)


def _made(name: str, shape: tuple[int, ...], classes: int, dropout: Number) -> nn.Module:
    """A network of ours, its weights whatever PyTorch gives them."""
    if name == "mlp":
        return mlp(features=torch.Size(shape).numel(), classes=classes, dropout=dropout)
    channels, height, width = shape
    if name == "cnn":
        return cnn(channels=channels, height=height, width=width, classes=classes, dropout=dropout)
    return resnet(name, channels=channels, classes=classes, dropout=dropout)


def _imported(name: str) -> Callable[..., Any]:
    """A factory of the user's, by the names of its module and its own."""
    module, _, attribute = name.partition(":")
    try:
        factory: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"model {name!r} must name a function as package.module:function, but {error}; check "
            "the spelling, and that the package is installed or in the current folder"
        ) from None
    return factory


def _called(factory: Any, **known: Any) -> nn.Module:
    """What a factory makes, called with what it names of all that is known."""
    if isinstance(factory, nn.Module) or not callable(factory):
        raise ValueError(
            "a model of one's own must be a function or class that makes one, got "
            f"{type(factory).__name__}; pass e.g. lambda: nn.Linear(4, 3), so that every training "
            "begins with new weights"
        )
    wanted = inspect.signature(factory).parameters
    model = factory(**{key: value for key, value in known.items() if key in wanted})
    if not isinstance(model, nn.Module):
        raise ValueError(
            f"model {getattr(factory, '__qualname__', factory)!r} must return an nn.Module, got "
            f"{type(model).__name__}"
        )
    return model
