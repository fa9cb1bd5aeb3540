"""Products in bfloat16, with and without its instructions."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from oddkout.fitting import precision
from oddkout.fitting.precision import RoundedProducts, in_bfloat16, multiplies_bfloat16

CPU = torch.device("cpu")


@pytest.fixture
def network():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
            nn.Linear(36, 3),
        )  # fmt: skip


def gradients(network, context):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(16, 1, 8, 8, generator=generator)
    network.zero_grad()
    with context:
        output = network(x)
    F.cross_entropy(output.float(), torch.arange(16) % 3).backward()
    return output, torch.cat([weight.grad.flatten() for weight in network.parameters()])


def test_rounded_products_equal_those_of_pytorch_in_bfloat16(network):
    """Sums in another order may round to the next number: a few of 2 ** -8."""
    autocast = torch.autocast("cpu", dtype=torch.bfloat16)
    expected, slopes = gradients(network, autocast)
    with autocast:
        rounded, rounded_slopes = gradients(network, RoundedProducts())
    _, exact_slopes = gradients(network, torch.autocast("cpu", enabled=False))
    assert rounded.dtype == expected.dtype == torch.bfloat16
    assert torch.allclose(rounded, expected, rtol=2**-7, atol=2**-8)
    closeness = (rounded_slopes - slopes).norm() / slopes.norm()
    assert closeness < (exact_slopes - slopes).norm() / slopes.norm() / 3, "float32 is further away"
    assert closeness < 0.01


def test_a_product_is_that_of_rounded_numbers_added_in_float32():
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(20, 300, generator=generator) for _ in range(2))
    with RoundedProducts():
        product = F.linear(a, b)
    wide = a.bfloat16().double() @ b.bfloat16().double().T
    assert torch.equal(product, wide.float().bfloat16())


@pytest.mark.parametrize("is_compiled", [False, True])
def test_only_a_cpu_without_instructions_rounds(monkeypatch, is_compiled):
    modes = []
    monkeypatch.setattr(RoundedProducts, "__enter__", lambda self: modes.append(self))
    monkeypatch.setattr(RoundedProducts, "__exit__", lambda self, *error: None)
    monkeypatch.setattr(precision, "multiplies_bfloat16", lambda: True)
    with in_bfloat16(CPU, is_compiled=is_compiled):
        assert torch.is_autocast_enabled("cpu")
    assert not modes
    monkeypatch.setattr(precision, "multiplies_bfloat16", lambda: False)
    with in_bfloat16(CPU, is_compiled=is_compiled):
        assert torch.is_autocast_enabled("cpu")
    assert len(modes) == (not is_compiled)


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ({}, True),
        ({"avx512_f": True}, False),
        ({"avx512_bf16": True}, True),
        ({"amx_bf16": True}, True),
    ],
)
def test_instructions_decide(monkeypatch, capabilities, expected):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities, raising=False)
    assert multiplies_bfloat16() == expected
