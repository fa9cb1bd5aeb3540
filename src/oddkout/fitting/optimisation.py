"""The optimiser, its learning rate schedule, and the weight schedule of a second head."""

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from oddkout.checks import Number, one_of

OptimiserName = Literal["sgd", "adam", "adamw"]
ScheduleName = Literal["constant", "cosine"]


@dataclass(frozen=True, kw_only=True)
class Optimiser:
    """Settings of the optimiser.

    Attributes:
        name: ``"sgd"`` (with Nesterov momentum), ``"adamw"``, or ``"adam"``: the same with a
            shorter memory of squared gradients, for short training.
        learning_rate: Peak learning rate, reached after a linear warm-up.
        schedule: What follows the warm-up: ``"constant"``, with which training may stop at any
            time if weights are averaged, or ``"cosine"`` decay to 0.
        momentum: Momentum of SGD.
        weight_decay: Weight decay; not applied to biases and normalisation layers.
        warm_up: Share of the updates in the warm-up.
        clip_norm: Largest norm of the gradient; None for no limit.
        clip_value: Largest absolute value of a gradient entry; None for no limit.
    """

    name: OptimiserName = "sgd"
    learning_rate: Number = 0.2
    schedule: ScheduleName = "cosine"
    momentum: Number = 0.9
    weight_decay: Number = 0.0
    warm_up: Number = 0.05
    clip_norm: Number | None = 1.0
    clip_value: Number | None = None

    def __post_init__(self) -> None:
        one_of("optimiser", self.name, get_args(OptimiserName))
        one_of("schedule", self.schedule, get_args(ScheduleName))

    def of(self, model: nn.Module) -> torch.optim.Optimizer:
        """The PyTorch optimiser for a model."""
        groups: list[dict[str, Any]] = [
            {
                "params": [p for p in model.parameters() if p.ndim > 1],
                "weight_decay": float(self.weight_decay),
            },
            {"params": [p for p in model.parameters() if p.ndim <= 1], "weight_decay": 0.0},
        ]
        # Fused: one pass over the weights instead of about ten.
        if self.name != "sgd":
            return torch.optim.AdamW(groups, lr=self.learning_rate, betas=self.betas, fused=True)
        return torch.optim.SGD(
            groups,
            lr=self.learning_rate,
            momentum=self.momentum,
            nesterov=self.momentum > 0,
            fused=True,
        )

    @property
    def betas(self) -> tuple[float, float]:
        """How long Adam remembers gradients and squared gradients."""
        return 0.9, 0.99 if self.name == "adam" else 0.999

    def rate(self, done: float) -> float:
        """Learning rate after a share ``done`` of the updates, from 0 to 1."""
        if done < self.warm_up:
            return self.learning_rate * ((done + 1e-3) / (self.warm_up + 1e-3))
        if self.schedule == "constant":
            return float(self.learning_rate)
        angle = math.pi * (done - self.warm_up) / (1 - self.warm_up)
        return self.learning_rate * (0.5 * (1 + math.cos(angle)))

    def clip(self, model: nn.Module) -> Tensor:
        """Clip the gradients of a model in place; return their norm before clipping."""
        norm: Tensor = nn.utils.clip_grad_norm_(model.parameters(), self.clip_norm or math.inf)
        if self.clip_value is not None:
            nn.utils.clip_grad_value_(model.parameters(), self.clip_value)
        return norm


@dataclass(frozen=True, kw_only=True)
class HeadSchedule:
    """Weight schedule of the second head's loss.

    Attributes:
        weight: Initial weight; cosine decay to 0.
        until: Share of the updates after which the weight is 0; 0 keeps the weight constant.
    """

    weight: Number = 2.0
    until: Number = 0.6

    def at(self, done: float) -> float:
        """Weight after a share ``done`` of the updates, from 0 to 1."""
        share = 0.5 * (1 + math.cos(math.pi * min(done / self.until, 1.0))) if self.until else 1.0
        return self.weight * share
