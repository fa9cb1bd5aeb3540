"""Networks are chosen by name or shape, or built by the user's factory."""

import sys

import pytest
import torch
from networks import build, parameters


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((7,), "mlp"), ((1, 8, 8), "mlp"), ((1, 28, 28), "cnn"), ((3, 32, 32), "resnet18")],
)
def test_the_shape_chooses_the_network(shape, expected):
    assert parameters(build("auto", shape)) == parameters(build(expected, shape))


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
        ("vgg", (1, 28, 28), "one of auto, mlp, mlp-small, linear, cnn, resnet18, .* got 'vgg'"),
        ("cnn", (20,), r"needs images of shape \(channels, height, width\), got .* \(20,\)"),
        ("no.such:thing", (4,), "No module named 'no'"),
    ],
)
def test_networks_that_cannot_be_built_are_refused(name, shape, text):
    with pytest.raises(ValueError, match=text):
        build(name, shape)
