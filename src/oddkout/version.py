"""The version of the package, and of everything else that a result depends on."""

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
        "threads": str(torch.get_num_threads()),
    }
