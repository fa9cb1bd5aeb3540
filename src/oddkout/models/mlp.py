"""A network for tables and very small images."""

from collections import OrderedDict

from torch import nn

from oddkout.checks import Number


def mlp(
    *, features: int, classes: int, widths: tuple[int, ...] = (256, 128), dropout: Number = 0.0
) -> nn.Sequential:
    """Dense layers of ``widths`` with ReLU, dropout and the output layer; inputs are flattened."""
    layers: OrderedDict[str, nn.Module] = OrderedDict(flatten=nn.Flatten())
    inputs = features
    for number, width in enumerate(widths, start=1):
        layers[f"dense{number}"] = nn.Linear(inputs, width)
        layers[f"relu{number}"] = nn.ReLU(inplace=True)
        inputs = width
    layers["dropout"] = nn.Dropout(float(dropout))
    layers["out"] = nn.Linear(inputs, classes)
    return nn.Sequential(layers)
