"""The MLP has two hidden layers."""

import torch
from networks import build, parameters


def test_the_mlp_has_hidden_layers_of_256_and_128():
    model = build("mlp", (20,), classes=3)
    assert parameters(model) == 20 * 256 + 256 + 256 * 128 + 128 + 128 * 3 + 3
    assert model.eval()(torch.zeros(2, 20)).shape == (2, 3)
