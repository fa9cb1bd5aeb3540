"""Generators that are a function of a few integers, so that nothing has to be remembered."""

import numpy as np
import torch


def keyed_generator(*key: int) -> torch.Generator:
    """A generator for this key; different keys give unrelated streams.

    Args:
        *key: Integers from 0, such as a seed, an epoch and the number of a batch.

    Example:
        >>> draws = [torch.rand(1, generator=keyed_generator(0, 3)).item() for _ in range(2)]
        >>> draws[0] == draws[1] != torch.rand(1, generator=keyed_generator(3, 0)).item()
        True
    """
    state = np.random.SeedSequence(key).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0]))
