"""Networks by name, and their number of parameters."""

import torch

from oddkout.models import build_model


def build(name, shape, classes=10, seed=0):
    return build_model(
        name, shape=shape, classes=classes, generator=torch.Generator().manual_seed(seed)
    )


def parameters(model):
    return sum(parameter.numel() for parameter in model.parameters())
