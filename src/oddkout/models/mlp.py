"""A network for tables and very small images."""

from collections import OrderedDict

from torch import nn


def mlp(*, features: int, classes: int, widths: tuple[int, ...] = (256, 128)) -> nn.Sequential:
    """Dense layers with ReLU; inputs of any shape are flattened.

    Args:
        features: Number of inputs of an example.
        classes: Number of classes.
        widths: Width of each hidden layer.
    """
    layers: OrderedDict[str, nn.Module] = OrderedDict(flatten=nn.Flatten())
    inputs = features
    for number, width in enumerate(widths, start=1):
        layers[f"dense{number}"] = nn.Linear(inputs, width)
        layers[f"relu{number}"] = nn.ReLU()
        inputs = width
    layers["out"] = nn.Linear(inputs, classes)
    return nn.Sequential(layers)
