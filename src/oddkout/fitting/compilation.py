"""Whether compiling a model pays off, decided by the amount of work, never by a clock."""

import copy
import os
import shutil

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

# Compiling takes ten to thirty seconds and saves up to a third of every step (see `make bench`). It
# pays off after a minute or two, which is about this many floating-point operations.
_REPAYS_FROM = {"cpu": 1e13, "cuda": 1e15}


def repays_compiling(model: nn.Module, x: Tensor, *, examples: int, updates: int) -> bool:
    """Whether a run is long enough to repay compiling, and the machine can compile.

    The decision depends on the arguments only. A clock could decide differently in two runs, which
    would change the last bits of the weights.

    Args:
        x: Inputs of the model; only the first is used.
        examples: Number of examples in an update.
        updates: Number of updates.
    """
    limit = _REPAYS_FROM.get(x.device.type)
    if limit is None or (x.device.type == "cpu" and not _has_compiler()):
        return False
    return training_operations(model, x) * examples * updates >= limit


def training_operations(model: nn.Module, x: Tensor) -> int:
    """Floating-point operations of a training step per example, forward and backward.

    The backward pass counts as two forward passes: gradients of the inputs and of the weights.

    Args:
        x: Inputs of the model; only the first is used.
    """
    counter = FlopCounterMode(display=False)
    counted = copy.deepcopy(model).eval()  # the model's own batch statistics stay unchanged
    with counter, torch.no_grad():
        counted(x[:1])
    return 3 * int(counter.get_total_flops())


def _has_compiler() -> bool:
    """Whether there is a C++ compiler, which ``torch.compile`` needs on a CPU."""
    return shutil.which(os.environ.get("CXX", "g++")) is not None
