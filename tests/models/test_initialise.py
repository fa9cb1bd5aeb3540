"""Initial weights have the published variance and depend on the generator only."""

import math

import torch
from networks import build
from torch import nn


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
