"""Random logits, with labels drawn from them at a known temperature."""

import torch


def drawn(examples, classes=10, *, seed=0, scale=2.0, temperature=1.0):
    """Logits, and labels drawn from them at a temperature; at 1 the model is calibrated."""
    source = torch.Generator().manual_seed(seed)
    logits = scale * torch.randn(examples, classes, generator=source, dtype=torch.float64)
    labels = (logits / temperature).softmax(dim=1).multinomial(1, generator=source)[:, 0]
    return logits, labels


def overconfident(examples=500, *, seed=0):
    """Logits and labels of a five-class model that is somewhat overconfident."""
    return drawn(examples, 5, seed=seed, temperature=1 / 0.6)


def sharp(examples, classes=10, **options):
    """As ``drawn``, with larger logits."""
    return drawn(examples, classes, scale=3.0, **options)
