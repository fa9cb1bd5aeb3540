"""The CNN has the layers of the paper."""

import pytest
import torch
from networks import build, parameters


def test_the_cnn_has_the_published_number_of_parameters():
    """3 x 3 convolutions 1-32-64-128 with biases, 3 * 3 * 128 inputs to a dense layer of 128."""
    convolutions = 9 * 32 + 32 + 9 * 32 * 64 + 64 + 9 * 64 * 128 + 128
    model = build("cnn", (1, 28, 28))
    assert parameters(model) == convolutions + 1152 * 128 + 128 + 128 * 10 + 10
    assert model.eval()(torch.zeros(2, 1, 28, 28)).shape == (2, 10)


def test_images_below_8_x_8_are_refused():
    with pytest.raises(ValueError, match="at least 8 x 8, got 7 x 9; use the MLP"):
        build("cnn", (1, 7, 9))
