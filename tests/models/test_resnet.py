"""ResNets have the published sizes."""

import pytest
import torch
from networks import build, parameters


@pytest.mark.parametrize(
    ("name", "classes", "count"),
    [
        ("resnet18", 10, 11_173_962),  # as widely reported for CIFAR-10
        ("resnet34", 100, 21_328_292),  # and for CIFAR-100
    ],
)
def test_resnets_have_the_published_number_of_parameters(name, classes, count):
    model = build(name, (3, 32, 32), classes)
    assert parameters(model) == count
    assert model.eval()(torch.zeros(2, 3, 32, 32)).shape == (2, classes)


def test_a_narrow_resnet_has_a_quarter_of_the_channels():
    def expected(width, classes):
        """Two 3 x 3 convolutions a block, a norm after each, and a 1 x 1 one where it widens."""
        count, inputs = 3 * 9 * width + 2 * width, width
        for outputs in (width, 2 * width, 4 * width, 8 * width):
            count += 9 * (inputs + 3 * outputs) * outputs + 8 * outputs
            count += (inputs + 2) * outputs if inputs != outputs else 0
            inputs = outputs
        return count + (inputs + 1) * classes

    assert expected(64, 10) == parameters(build("resnet18", (3, 32, 32)))
    assert expected(16, 10) == parameters(build("resnet18-narrow", (3, 32, 32)))
