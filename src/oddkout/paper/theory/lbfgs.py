"""Minimisation by L-BFGS, for searches that need a minimum to high precision."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def minimise(loss: Callable[[], Tensor], parameters: list[Tensor], *, steps: int) -> None:
    """Minimise a loss by L-BFGS; the parameters change in place."""
    for parameter in parameters:
        parameter.requires_grad_()
    search: Any = torch.optim.LBFGS(
        parameters, max_iter=steps, tolerance_grad=1e-10, line_search_fn="strong_wolfe"
    )

    def differentiated() -> Tensor:
        search.zero_grad()
        value = loss()
        torch.autograd.backward(value)
        return value

    search.step(differentiated)
    for parameter in parameters:
        parameter.requires_grad_(False)
