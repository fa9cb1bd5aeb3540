"""Several perceptrons as one batched product, against each of them alone."""

import torch
from torch import nn

from oddkout.fitting.stacked import StackedPerceptrons
from oddkout.models import build_model


def networks(name="mlp-small"):
    return [
        build_model(name, shape=(5,), classes=3, generator=torch.Generator().manual_seed(seed))
        for seed in range(4)
    ]


def test_logits_and_gradients_are_those_of_each_network():
    each = networks()
    together = StackedPerceptrons(each, has_second=False, seeds=range(4))
    x = torch.randn(4, 7, 5, generator=torch.Generator().manual_seed(0))
    logits, second = together.forward(x, dropout=None)
    assert second is None
    assert torch.equal(logits, together.outputs(x, together.values))
    torch.autograd.backward(logits.square().sum())
    for member, network in enumerate(each):
        expected = network(x[member])
        torch.testing.assert_close(logits[member], expected)
        torch.autograd.backward(expected.square().sum())
        gradient = together.values[0].grad[member].T  # the first layer, stored transposed
        torch.testing.assert_close(gradient, next(network.parameters()).grad)


def test_joined_weights_are_the_weights_of_all_layers():
    each = networks()
    together = StackedPerceptrons(each, has_second=True, seeds=range(4))
    decayed, plain = together.groups
    weights = sum(p.numel() for network in each for p in network.parameters() if p.ndim > 1)
    assert decayed.numel() == weights + 4 * 64 * 3, "with the second head"
    x = torch.ones(4, 1, 5)
    torch.autograd.backward(together.forward(x, dropout=None)[0].sum())
    together.join_gradients()
    size = float(sum(v.grad.square().sum() for v in together.values))
    joined = float(sum(group.grad.square().sum() for group in (decayed, plain)))
    assert abs(size - joined) < 1e-3 * size, "the second head has no gradient"
    with torch.no_grad():
        decayed.mul_(0)
        plain.fill_(1)
    assert torch.equal(together.outputs(x, together.values), torch.ones(4, 1, 3))


def test_states_fit_the_networks():
    each = networks("linear")
    state = StackedPerceptrons(each, has_second=False, seeds=range(4)).states(
        [torch.zeros(4, 5, 3), torch.ones(4, 3)]
    )[2]
    each[2].load_state_dict(state)
    assert isinstance(each[2].out, nn.Linear)
    assert torch.equal(each[2](torch.randn(2, 5)), torch.ones(2, 3))
