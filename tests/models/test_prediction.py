"""Networks arranged for prediction give what they give one by one."""

import copy

import pytest
import torch
from torch import nn

from oddkout.models import build_model
from oddkout.models.encodings import Encoding, EncodingPlan, encoded_network
from oddkout.models.ensemble import Ensemble
from oddkout.models.forest import Forest
from oddkout.models.prediction import in_double


def rows(count=300):
    x = torch.randn(count, 4, generator=torch.Generator().manual_seed(0))
    x[:, 1] = (x[:, 1] > 0).float()
    x[::7, 2] = torch.nan
    return x


def members(kind, *, count=3):
    x, y = rows(), torch.arange(300) % 3
    name = kind if kind in ("piecewise", "normal") else "standard"
    plan = EncodingPlan.of(x, name=name)
    for number in range(count):
        own = x[number::count]
        encoding = Encoding(plan).fit(own)
        generator = torch.Generator().manual_seed(number)
        if kind == "forest":
            network = Forest(3).fit(encoding(own), y[number::count], seed=number)
        else:
            layers = "linear" if kind == "linear" else "mlp-small"
            shape = (plan.features,)
            network = build_model(layers, shape=shape, classes=3, generator=generator)
        yield encoded_network(encoding, network)


@pytest.mark.parametrize("kind", ["standard", "piecewise", "normal", "linear", "forest"])
def test_members_predict_as_one_by_one_in_double_precision(kind):
    networks = list(members(kind))
    before = copy.deepcopy([network.state_dict() for network in networks])
    x = rows().double()
    found = in_double(Ensemble(networks))(x)
    expected = torch.stack([copy.deepcopy(n).double()(x) for n in networks], dim=1)
    assert found.dtype == torch.float64
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    for network, state in zip(networks, before, strict=True):
        for name, value in network.state_dict().items():
            assert torch.equal(
                value,
                state[name],
            ), "the model is not changed"


def test_views_of_a_stack_keep_their_order():
    networks = [n for kind in ("piecewise", "forest", "normal", "linear") for n in members(kind)]
    networks.append(nn.Sequential(nn.Tanh(), nn.Linear(4, 3)))  # no perceptron of ours
    x = rows().nan_to_num().double()
    expected = torch.stack([copy.deepcopy(n).double()(x) for n in networks], dim=1)
    torch.testing.assert_close(in_double(Ensemble(networks))(x), expected, rtol=1e-12, atol=1e-12)


def test_a_row_is_predicted_alike_in_every_batch():
    networks = [n for kind in ("piecewise", "forest", "normal") for n in members(kind)]
    arranged, x = in_double(Ensemble(networks)), rows().double()
    alone = torch.cat([arranged(row[None]) for row in x[:20]])
    torch.testing.assert_close(arranged(x)[:20], alone, rtol=1e-13, atol=1e-13)
    assert arranged(x[:0]).shape == (0, 9, 3)
