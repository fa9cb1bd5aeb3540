"""What a result was made with."""

import platform
import sys

import numpy as np
import torch

import oddkout


def versions() -> dict[str, str]:
    """What a result was made with."""
    return {
        "oddkout": oddkout.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": sys.version.split()[0],
        "machine": platform.machine(),
        "threads": str(torch.get_num_threads()),
    }
