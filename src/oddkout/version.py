"""The version of the package, and of everything else that a result depends on."""

import os
import platform
import sys

import numpy as np
import torch

__version__ = "0.2.0.dev0"


def versions() -> dict[str, str]:
    """Versions to store beside a result."""
    return {
        "oddkout": __version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": sys.version.split()[0],
        "machine": platform.machine(),
        "instructions": instructions(),
        "threads": str(torch.get_num_threads()),
    }


def instructions() -> str:
    """The instruction sets that products are computed with; another one rounds otherwise.

    Two machines with equal versions and instructions give results that are equal to the digit.
    """
    # Older versions of PyTorch do not tell.
    capabilities: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    names = [torch.backends.cpu.get_cpu_capability()]
    names += [name for name in ("avx512_bf16", "amx_bf16") if capabilities.get(name)]
    if limit := os.environ.get("ONEDNN_MAX_CPU_ISA"):
        names.append(f"limited to {limit}")
    return " ".join(names)
