"""The kernels that update joined weights, against ``torch.optim``."""

import pytest
import torch

from oddkout.fitting.joined_optimiser import JoinedOptimiser
from oddkout.fitting.optimisation import Optimiser


def slow(settings, tensors, decays):
    groups = [
        {"params": [tensor], "weight_decay": decay}
        for tensor, decay in zip(tensors, decays, strict=True)
    ]
    if settings.name == "sgd":
        momentum = settings.momentum
        return torch.optim.SGD(groups, lr=1.0, momentum=momentum, nesterov=momentum > 0)
    second = 0.99 if settings.name == "adam" else 0.999
    return torch.optim.AdamW(groups, lr=1.0, betas=(0.9, second))


@pytest.mark.parametrize(
    ("name", "momentum"), [("adam", 0), ("adamw", 0), ("sgd", 0.9), ("sgd", 0)]
)
def test_updates_are_those_of_torch_optim(name, momentum):
    source = torch.Generator().manual_seed(0)
    tensors = [torch.randn(size, generator=source).double() for size in (70, 9, 0)]
    gradients, expected = [torch.zeros_like(t) for t in tensors], [t.clone() for t in tensors]
    settings, decays = Optimiser(name=name, momentum=momentum), (0.1, 0.0, 0.0)
    fast = JoinedOptimiser(settings, tensors, gradients=gradients, decays=decays)
    reference = slow(settings, expected, decays)
    for update in range(5):
        for gradient, tensor in zip(gradients, expected, strict=True):
            gradient.copy_(torch.randn(gradient.shape, generator=source))
            tensor.grad = gradient.clone()
        for group in reference.param_groups:
            group["lr"] = 0.01 * (update + 1)
        reference.step()
        fast.step(0.01 * (update + 1))
    for own, other in zip(tensors, expected, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-12, atol=1e-14)
