"""The optimiser of a few long tensors: the kernels of ``torch.optim``, without its bookkeeping."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Number
from oddkout.fitting.optimisation import Optimiser


class JoinedOptimiser:
    """Updates tensors in place, to the last bit as ``torch.optim`` does.

    The bookkeeping of ``torch.optim`` takes longer than the update of small networks.

    Args:
        optimiser: The settings; the learning rate is an argument of ``step``.
        tensors: Tensors to update; empty ones are left out.
        gradients: Their gradients.
        decays: Weight decay of each.
    """

    def __init__(
        self,
        optimiser: Optimiser,
        tensors: Sequence[Float[Tensor, " _"]],
        *,
        gradients: Sequence[Float[Tensor, " _"]],
        decays: Sequence[Number],
    ) -> None:
        self._settings = optimiser
        groups = zip(tensors, gradients, decays, strict=True)
        self._groups = [
            ([tensor], [gradient], float(decay), [torch.zeros_like(tensor)])
            for tensor, gradient, decay in groups
            if tensor.numel()
        ]
        self._squares = [[torch.zeros_like(tensor)] for (tensor,), *_ in self._groups]
        self._steps = torch.zeros(())

    def step(self, rate: Number) -> None:
        """Make one update.

        Args:
            rate: Learning rate.
        """
        if self._settings.name == "sgd":
            momentum = float(self._settings.momentum)
            for tensor, gradient, decay, velocity in self._groups:
                torch._fused_sgd_(
                    tensor, gradient, velocity if momentum else [], lr=float(rate),
                    weight_decay=decay, momentum=momentum, dampening=0.0, nesterov=momentum > 0,
                    maximize=False, is_first_step=False,
                )  # fmt: skip
            return
        self._steps += 1
        first, second = self._settings.betas
        for (tensor, gradient, decay, mean), square in zip(
            self._groups, self._squares, strict=True
        ):
            torch._fused_adamw_(
                tensor, gradient, mean, square, [], [self._steps], lr=float(rate), beta1=first,
                beta2=second, weight_decay=decay, eps=1e-8, amsgrad=False, maximize=False,
            )  # fmt: skip
