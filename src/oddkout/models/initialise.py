"""Initial weights drawn from a generator, so that one seed determines them."""

import math

import torch
from torch import nn


def initialise(model: nn.Module, generator: torch.Generator) -> nn.Module:
    """Initialise linear, convolution and batch-norm layers in place, and return the model.

    Weights are normal with variance 1 / fan-in (LeCun's initialisation, the default of the paper's
    framework), biases are 0, and batch norm starts as the identity. Other layers are unchanged. The
    model must be on the CPU.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            fan_in = module.weight[0].numel()
            nn.init.normal_(module.weight, std=1 / math.sqrt(fan_in), generator=generator)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.BatchNorm2d):
            module.reset_parameters()
    return model
