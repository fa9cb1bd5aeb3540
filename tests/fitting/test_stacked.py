"""Several perceptrons as one batched product, against each of them alone."""

import pytest
import torch
from torch import nn

from oddkout.fitting.stacked import StackedPerceptrons
from oddkout.models import build_model


def networks(name="mlp-small", **options):
    return [
        build_model(
            name, shape=(5,), classes=3, generator=torch.Generator().manual_seed(seed), **options
        )
        for seed in range(4)
    ]


@pytest.mark.parametrize("name", ["mlp-small", "linear"])
def test_logits_and_gradients_are_those_of_each_network(name):
    each = networks(name)
    together = StackedPerceptrons(each, has_second=False, seeds=range(4))
    x = torch.randn(4, 7, 5, generator=torch.Generator().manual_seed(0))
    logits, second = together.forward(x, dropout=None)
    assert second is None
    assert torch.equal(logits, together.averaged_outputs(x)), "averages start as copies"
    together.backward(2 * logits)
    gradients = together.states_of(together.gradients)
    for member, network in enumerate(each):
        expected = network(x[member])
        torch.testing.assert_close(logits[member], expected)
        torch.autograd.backward(expected.square().sum())
        for part, weights in network.named_parameters():
            torch.testing.assert_close(gradients[member][part], weights.grad)


def test_gradients_with_dropout_and_a_second_head_are_those_of_autograd():
    each = networks("mlp-small", dropout=0.5)
    together = StackedPerceptrons(each, has_second=True, seeds=range(4))
    x = torch.randn(4, 7, 5, generator=torch.Generator().manual_seed(0))
    weights = [group.clone().requires_grad_() for group in together.groups]

    def loss(logits, second):
        return logits.square().sum() + second.sin().sum()

    outputs = together.forward(x, dropout=torch.Generator().manual_seed(1))
    heads = [part.clone().requires_grad_() for part in outputs]
    torch.autograd.backward(loss(*heads))
    together.backward(*(part.grad for part in heads))
    # The same products with weights that autograd follows.
    parts = together.parts_of(weights)
    features = x
    for weight, bias in zip(parts[:4:2], parts[1:4:2], strict=True):
        features = (features @ weight + bias[:, None]).relu()
    kept = torch.rand(features.shape, generator=torch.Generator().manual_seed(1)) >= 0.5
    features = features * kept * 2
    first, second = (features @ parts[at] + parts[at + 1][:, None] for at in (4, 6))
    torch.testing.assert_close(first, outputs[0])
    torch.autograd.backward(loss(first, second))
    for gradient, weight in zip(together.gradients, weights, strict=True):
        torch.testing.assert_close(gradient, weight.grad, rtol=1e-4, atol=1e-5)


def test_a_second_head_without_effect_has_no_gradient():
    together = StackedPerceptrons(networks(), has_second=True, seeds=range(4))
    logits, _ = together.forward(torch.ones(4, 2, 5), dropout=None)
    together.backward(logits, None)
    *first, weight, bias = together.parts_of(together.gradients)
    assert not weight.any()
    assert not bias.any()
    assert all(part.any() for part in first)


def test_joined_weights_are_the_weights_of_all_layers():
    each = networks()
    together = StackedPerceptrons(each, has_second=True, seeds=range(4))
    decayed, plain = together.groups
    weights = sum(p.numel() for network in each for p in network.parameters() if p.ndim > 1)
    assert decayed.numel() == weights + 4 * 64 * 3, "with the second head"
    decayed.mul_(0)
    plain.fill_(1)
    x = torch.ones(4, 1, 5)
    assert torch.equal(together.forward(x, dropout=None)[0], torch.ones(4, 1, 3))
    together.move_averages(1.0)
    assert torch.equal(together.averaged_outputs(x), torch.ones(4, 1, 3))


def test_averages_move_by_the_share_of_the_new_weights():
    together = StackedPerceptrons(networks(), has_second=False, seeds=range(4))
    before = [average.clone() for average in together.averages]
    for group in together.groups:
        group.add_(1)
    together.move_averages(0.25)
    for old, new in zip(before, together.averages, strict=True):
        torch.testing.assert_close(new, old + 0.25)


def test_states_fit_the_networks():
    each = networks("linear")
    together = StackedPerceptrons(each, has_second=False, seeds=range(4))
    weights, biases = together.averages
    weights.zero_()
    biases.fill_(1)
    each[2].load_state_dict(together.states_of(together.averages)[2])
    assert isinstance(each[2].out, nn.Linear)
    assert torch.equal(each[2](torch.randn(2, 5)), torch.ones(2, 3))
