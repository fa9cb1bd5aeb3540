"""How weights begin: from a generator, so that one seed decides them."""

import math

import torch
from torch import nn


def initialise(model: nn.Module, generator: torch.Generator) -> nn.Module:
    """Draw the weights of linear and convolution layers anew, in place, and return the model.

    Weights are normal with variance 1 / fan-in (LeCun's, the default of the paper's framework),
    biases 0; normalisation layers start as the identity. Everything else keeps what it has.

    Args:
        model: Any module, on the CPU.
        generator: Source of the weights.
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
