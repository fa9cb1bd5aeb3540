"""Labels and random logits for tests of losses."""

import torch

LABELS = torch.arange(40) % 8


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def random_logits(examples=40, classes=8, dtype=torch.float64, seed=0):
    return torch.randn(examples, classes, generator=generator(seed), dtype=dtype)
