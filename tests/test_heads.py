"""The odd-class head sits beside the last layer and leaves no trace."""

import copy
import pickle
import subprocess
import sys

import pytest
import torch
from torch import nn

from oddkout import OddKOutLoss, with_odd_head, without_odd_head


class Net(nn.Module):
    """Layers registered in another order than they run in."""

    def __init__(self, *, is_last_first=False, is_normalised=False):
        super().__init__()
        self.is_normalised = is_normalised
        if is_last_first:
            self.out = nn.Linear(8, 3)
        self.body = nn.Sequential(nn.Linear(5, 8), nn.ReLU())
        if not is_last_first:
            self.out = nn.Linear(8, 3)

    def forward(self, x, scale=1.0):
        logits = self.out(self.body(scale * x))
        return logits.log_softmax(dim=1) if self.is_normalised else logits


def test_two_heads_in_training_and_one_in_evaluation():
    net, x = Net(), torch.randn(4, 5)
    model = with_odd_head(net)
    logits, odd_logits = model.train()(x, scale=2.0)
    torch.testing.assert_close(logits, net(x, scale=2.0))
    torch.testing.assert_close(odd_logits, model.odd_head(net.body(2 * x)))
    torch.testing.assert_close(model.eval()(x), net(x))


def test_the_plain_model_comes_back_with_its_parameter_names():
    net = Net()
    names = list(net.state_dict())
    model = with_odd_head(net)
    plain = without_odd_head(model)
    assert plain is net
    assert list(plain.state_dict()) == names
    assert not plain.out._forward_hooks
    assert isinstance(plain.train()(torch.zeros(2, 5)), torch.Tensor)
    assert without_odd_head(net) is net


def test_both_heads_and_the_features_learn():
    model = with_odd_head(Net()).train()
    labels = torch.tensor([0, 0, 1, 1, 2, 2])
    OddKOutLoss(k=1)(model(torch.randn(6, 5)), labels).backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_uses_its_own_features(duplicate):
    model = with_odd_head(Net()).train()
    twin = duplicate(model)
    with torch.no_grad():
        twin.model.body[0].weight.zero_()
        twin.model.body[0].bias.fill_(1.0)
    x = torch.randn(4, 5)
    torch.testing.assert_close(twin(x)[1], twin.odd_head(torch.ones(4, 8)))
    torch.testing.assert_close(model(x)[1], model.odd_head(model.model.body(x)))


def test_features_are_not_kept_alive():
    model = with_odd_head(Net())
    for mode in (True, False):
        model.train(mode)(torch.zeros(2, 5))
        assert model._tap._recorded == (None, None)


def test_a_named_feature_module_serves_any_model():
    net = Net(is_normalised=True)
    model = with_odd_head(net, features=net.body, width=8, classes=3).train()
    x = torch.randn(4, 5)
    torch.testing.assert_close(model(x)[1], model.odd_head(net.body(x)))


def test_the_head_follows_device_and_precision():
    model = with_odd_head(Net().double()).train()
    assert model(torch.zeros(2, 5, dtype=torch.float64))[1].dtype == torch.float64


def test_it_compiles_into_one_graph():
    """In a process of its own: the shape checks of this one cannot be traced."""
    program = """
import torch, oddkout
from torch import nn
model = oddkout.with_odd_head(nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))).train()
compiled, x = torch.compile(model, fullgraph=True, backend="eager"), torch.randn(4, 5)
for found, expected in zip(compiled(x), model(x), strict=True):
    torch.testing.assert_close(found, expected)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: with_odd_head(nn.Sequential(nn.Linear(5, 3), nn.Softmax(1))), "Linear, got Soft"),
        (
            lambda: with_odd_head(Net(is_normalised=True))(torch.zeros(2, 5)),
            "returns something els",
        ),
        (lambda: with_odd_head(Net(is_last_first=True)), "got ReLU; .*features=model.backbone"),
        (
            lambda: with_odd_head(Net(), features=nn.Linear(5, 8), width=8, classes=3),
            "not among mo",
        ),
        (lambda: with_odd_head(Net(), width=8), "go together.*width=8, classes=None; give all"),
        (lambda: with_odd_head(with_odd_head(Net())), "already has an odd-class head"),
    ],
)
def test_models_it_cannot_serve_are_refused_with_advice(call, text):
    with pytest.raises(ValueError, match=text):
        call()
