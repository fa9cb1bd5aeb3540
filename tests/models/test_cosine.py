"""Last layers of cosines."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from oddkout.models import build_model
from oddkout.models.cosine import SCALE, with_cosine_layer


@pytest.mark.parametrize("name", ["mlp", "cnn", "resnet18-narrow"])
def test_logits_are_scaled_cosines(name):
    model = build_model(name, shape=(1, 16, 16), classes=3, generator=torch.Generator()).eval()
    seen = {}
    changed = with_cosine_layer(model)
    last = [part for part in changed.modules() if not any(part.children())][-1]
    last.register_forward_hook(lambda _, inputs, __: seen.update(features=inputs[0]))
    logits = changed(torch.randn(4, 1, 16, 16))
    cosines = F.cosine_similarity(seen["features"][:, None], last.weight[None], dim=2)
    torch.testing.assert_close(logits, SCALE * cosines)
    assert changed is model


def test_the_only_layer_can_be_replaced():
    layer = nn.Linear(4, 3)
    assert with_cosine_layer(layer)(torch.randn(2, 4)).abs().max() <= SCALE


def test_a_network_that_ends_otherwise_is_refused():
    with pytest.raises(ValueError, match=r"must be nn.Linear, got ReLU; end the network with"):
        with_cosine_layer(nn.Sequential(nn.Linear(4, 3), nn.ReLU()))
