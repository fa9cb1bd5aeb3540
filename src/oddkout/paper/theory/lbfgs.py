"""Minimisation by L-BFGS in float64, for searches that must go as low as they can."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def minimise(loss: Callable[[], Tensor], parameters: list[Tensor], *, steps: int) -> None:
    """Change the parameters in place so that the loss is as low as L-BFGS can bring it."""
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
