"""The paper's network for small grey images."""

from collections import OrderedDict

from torch import nn

from oddkout.checks import Number


def cnn(
    *, channels: int, height: int, width: int, classes: int, dropout: Number = 0.0
) -> nn.Sequential:
    """Three 3 x 3 convolutions of 32, 64, 128 channels, each with ReLU and 2 x 2 average pooling.

    A dense layer of 128 units with ReLU, dropout (none in the paper) and the output layer follow.
    Images must be at least 8 x 8.
    """
    if min(height, width) < 8:
        raise ValueError(
            f"the CNN halves images three times, so they must be at least 8 x 8, got {height} x "
            f"{width}; use the MLP"
        )
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    inputs = channels
    for number, outputs in enumerate((32, 64, 128), start=1):
        layers[f"conv{number}"] = nn.Conv2d(inputs, outputs, 3, padding=1)
        layers[f"relu{number}"] = nn.ReLU(inplace=True)
        layers[f"pool{number}"] = nn.AvgPool2d(2)
        inputs = outputs
    layers["flatten"] = nn.Flatten()
    layers["dense"] = nn.Linear(128 * (height // 8) * (width // 8), 128)
    layers["relu4"] = nn.ReLU(inplace=True)
    layers["dropout"] = nn.Dropout(float(dropout))
    layers["out"] = nn.Linear(128, classes)
    return nn.Sequential(layers)
