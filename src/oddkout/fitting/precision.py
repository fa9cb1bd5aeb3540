"""Compute in bfloat16, on a CPU without its instructions by float32 products of rounded numbers."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode


@contextmanager
def in_bfloat16(device: torch.device, *, is_compiled: bool = False) -> Generator[None]:
    """Compute the products of networks in bfloat16, the rest as autocast does.

    Without instructions for bfloat16, PyTorch's products of such numbers take more than twice as
    long as those in float32. ``RoundedProducts`` then replaces them, except in compiled networks.

    Args:
        device: Where the networks are.
        is_compiled: Whether they are compiled.
    """
    is_rounded = device.type == "cpu" and not is_compiled and not multiplies_bfloat16()
    with (
        torch.autocast(device.type, dtype=torch.bfloat16),
        RoundedProducts() if is_rounded else nullcontext(),
    ):
        yield


def multiplies_bfloat16() -> bool:
    """Whether the CPU has instructions for products of bfloat16 numbers, as far as is known."""
    # Older versions of PyTorch do not tell.
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    names = ("avx512_bf16", "amx_bf16", "bf16")
    return not capabilities or any(capabilities.get(name) for name in names)


class RoundedProducts(TorchFunctionMode):
    """Compute convolutions and dense layers in float32, from and to numbers rounded to bfloat16.

    Instructions for bfloat16 do the same: they multiply rounded numbers and add in float32. Only
    the order of the additions differs. Gradients are rounded alike.

    Example:
        >>> import torch
        >>> with RoundedProducts():
        ...     product = torch.nn.functional.linear(torch.tensor([[1.001]]), torch.ones(1, 1))
        >>> product
        tensor([[1.]], dtype=torch.bfloat16)
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call a function of PyTorch; a product with rounded numbers."""
        kwargs = kwargs or {}
        if func not in _PRODUCTS:
            return func(*args, **kwargs)
        args = [_rounded(value) for value in args]
        kwargs = {name: _rounded(value) for name, value in kwargs.items()}
        with torch.autocast("cpu", enabled=False):
            return func(*args, **kwargs).bfloat16()


_PRODUCTS = (torch.conv1d, torch.conv2d, torch.conv3d, F.linear)


def _rounded(value: Any) -> Any:
    """A tensor of numbers, rounded to bfloat16; anything else as it is."""
    if isinstance(value, Tensor) and value.is_floating_point():
        return value.bfloat16().float()
    return value
