"""Networks: shapes, parameter counts from the published descriptions, and initialisation."""

import math
import sys

import pytest
import torch
from torch import nn

from oddkout.models import build_model


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def build(name, shape, classes=10, seed=0):
    return build_model(name, shape=shape, classes=classes, generator=generator(seed))


def parameters(model):
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(
    ("name", "shape", "classes", "count"),
    [
        # 3x3 convolutions 1-32-64-128 with biases, 3 * 3 * 128 inputs to a dense layer of 128
        (
            "cnn",
            (1, 28, 28),
            10,
            9 * 32 + 32 + 9 * 32 * 64 + 64 + 9 * 64 * 128 + 128 + 1152 * 128 + 128 + 128 * 10 + 10,
        ),
        ("mlp", (20,), 3, 20 * 256 + 256 + 256 * 128 + 128 + 128 * 3 + 3),
        ("resnet18", (3, 32, 32), 10, 11_173_962),  # as widely reported for CIFAR-10
        ("resnet34", (3, 32, 32), 100, 21_328_292),  # and for CIFAR-100
    ],
)
def test_networks_have_the_published_number_of_parameters(name, shape, classes, count):
    model = build(name, shape, classes)
    assert parameters(model) == count
    assert model.eval()(torch.zeros(2, *shape)).shape == (2, classes)


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


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((7,), "mlp"), ((1, 8, 8), "mlp"), ((1, 28, 28), "cnn"), ((3, 32, 32), "resnet18")],
)
def test_the_shape_chooses_the_network(shape, expected):
    assert parameters(build("auto", shape)) == parameters(build(expected, shape))


def test_weights_are_normal_with_variance_1_over_fan_in_and_biases_0():
    for module in build("cnn", (1, 28, 28)).modules():
        if isinstance(module, nn.Conv2d | nn.Linear):
            fan_in = module.weight[0].numel()
            count = module.weight.numel()
            # The sample variance of a normal has relative deviation sqrt(2 / n).
            ratio = module.weight.var().item() * fan_in
            assert abs(ratio - 1) < 5 * math.sqrt(2 / count)
            assert (module.bias == 0).all()


def test_the_generator_decides_the_weights():
    first, again, other = (build("resnet18", (3, 32, 32), seed=seed) for seed in (0, 0, 1))
    pairs = zip(first.parameters(), again.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    assert not torch.equal(first.conv.weight, other.conv.weight)
    before = torch.random.get_rng_state()
    build("mlp", (4,))
    assert torch.equal(before, torch.random.get_rng_state()), "global randomness is left alone"


def test_ones_own_network_is_called_with_what_it_names(tmp_path, monkeypatch):
    (tmp_path / "nets.py").write_text(
        "from torch import nn\n"
        "def small(classes):\n    return nn.Sequential(nn.Flatten(), nn.Linear(64, classes))\n"
        "def wrong():\n    return 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    model = build("nets:small", (1, 8, 8), classes=4)
    assert model(torch.zeros(2, 1, 8, 8)).shape == (2, 4)
    with pytest.raises(ValueError, match=r"must return an nn.Module, got int"):
        build("nets:wrong", (1, 8, 8))
    with pytest.raises(ValueError, match=r"package.module:function, but .*nothing"):
        build("nets:nothing", (1, 8, 8))
    sys.modules.pop("nets")


@pytest.mark.parametrize(
    ("name", "shape", "text"),
    [
        ("vgg", (1, 28, 28), "one of auto, mlp, cnn, resnet18, resnet34, .* got 'vgg'"),
        ("cnn", (20,), r"needs images of shape \(channels, height, width\), got .* \(20,\)"),
        ("cnn", (1, 7, 9), "at least 8 x 8, got 7 x 9; use the MLP"),
        ("no.such:thing", (4,), "No module named 'no'"),
    ],
)
def test_networks_that_cannot_be_built_are_refused(name, shape, text):
    with pytest.raises(ValueError, match=text):
        build(name, shape)
