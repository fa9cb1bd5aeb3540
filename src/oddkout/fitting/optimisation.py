"""How weights move: the optimisers, and what changes as training goes on."""

import math
from typing import Any

import torch
from torch import nn

from oddkout.checks import Number, one_of

OPTIMISERS = ("sgd", "adamw")


def optimiser_for(
    model: nn.Module, name: str, *, rate: Number, momentum: Number, weight_decay: Number
) -> torch.optim.Optimizer:
    """SGD with Nesterov momentum, or AdamW; matrices and kernels decay, biases and norms do not.

    Args:
        model: The model whose weights it moves.
        name: ``"sgd"`` or ``"adamw"``.
        rate: Learning rate.
        momentum: Momentum of SGD.
        weight_decay: L2 on weights of more than one axis.
    """
    one_of("optimiser", name, OPTIMISERS)
    weights = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
    groups: list[dict[str, Any]] = [
        {"params": weights, "weight_decay": float(weight_decay)},
        {"params": others, "weight_decay": 0.0},
    ]
    # Fused: one pass over all weights instead of one for each of some ten operations.
    if name == "adamw":
        return torch.optim.AdamW(groups, lr=rate, fused=True)
    return torch.optim.SGD(groups, lr=rate, momentum=momentum, nesterov=momentum > 0, fused=True)


def rate_share(done: float, *, warm_up: Number) -> float:
    """Share of the highest learning rate: a linear rise, then a cosine to 0.

    Args:
        done: Share of the updates that is done.
        warm_up: Share of the updates in which it rises.
    """
    if done < warm_up:
        return (done + 1e-3) / (warm_up + 1e-3)
    return 0.5 * (1 + math.cos(math.pi * (done - warm_up) / (1 - warm_up)))


def fading_share(done: float, *, until: Number) -> float:
    """Share of a weight that fades by a cosine to 0.

    Args:
        done: Share of the updates that is done.
        until: Share of the updates after which nothing is left; 0 keeps all throughout.
    """
    return 0.5 * (1 + math.cos(math.pi * min(done / until, 1.0))) if until else 1.0
