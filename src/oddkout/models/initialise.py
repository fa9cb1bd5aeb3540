"""Initial weights drawn from a generator, so that one seed determines them."""

import math

import torch
from torch import nn

# Factor of the initial weights of a cautious last layer.
_FIRST_LOGITS = 0.1


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


def cautious(network: nn.Module) -> nn.Module:
    """Scale the initial weights of a perceptron: He's initialisation, and a last layer near 0.

    The first predictions are then almost the same for all classes, so that training can stop early.
    """
    layers = [layer for layer in network.modules() if isinstance(layer, nn.Linear)]
    with torch.no_grad():
        for layer in layers[:-1]:
            layer.weight.mul_(math.sqrt(2))
        layers[-1].weight.mul_(_FIRST_LOGITS)
    return network
