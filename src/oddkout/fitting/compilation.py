"""Whether compiling a model pays off, decided by the work of a run, never by a clock."""

import copy
import os
import shutil

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

# Compiling costs ten to thirty seconds and saves up to a third of every step (`make bench` measures
# both), so it repays after a minute or two: about so many operations on a machine of today.
_REPAYS_FROM = {"cpu": 1e13, "cuda": 1e15}


def repays_compiling(model: nn.Module, x: Tensor, *, examples: int, updates: int) -> bool:
    """Whether a run is long enough, and the machine able to compile.

    A clock would answer differently from one run to the next, and with it the last bits of the
    weights. So the work decides, which the arguments determine.

    Args:
        model: The model.
        x: Its inputs, of which one is looked at.
        examples: Number of examples in an update.
        updates: Number of updates.
    """
    limit = _REPAYS_FROM.get(x.device.type)
    if limit is None or (x.device.type == "cpu" and not _has_compiler()):
        return False
    return training_operations(model, x) * examples * updates >= limit


def training_operations(model: nn.Module, x: Tensor) -> int:
    """Floating-point operations of one example, forward and backward.

    The gradients of inputs and of weights cost as much as the forward pass each.

    Args:
        model: The model.
        x: Its inputs, of which one is looked at.
    """
    counter = FlopCounterMode(display=False)
    counted = copy.deepcopy(model).eval()  # statistics of the model itself stay as they are
    with counter, torch.no_grad():
        counted(x[:1])
    return 3 * int(counter.get_total_flops())


def _has_compiler() -> bool:
    """Whether there is a C++ compiler, which PyTorch's needs on a CPU."""
    return shutil.which(os.environ.get("CXX", "g++")) is not None
