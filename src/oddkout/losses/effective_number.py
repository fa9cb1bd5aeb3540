"""Class weights by the effective number of examples (Cui et al., CVPR 2019)."""

import torch
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Labels, Number, at_least, class_labels


def effective_number_weights(
    labels: Labels, *, classes: int, beta: Number = 0.9999
) -> Float[Tensor, " {classes}"]:
    """Inverse effective numbers (1 - beta ** n) / (1 - beta) of the classes; 0 for absent ones.

    An example overlaps with others of its class, so n examples count less than n. With beta = 0
    every class weighs the same, towards 1 the weights become inverse frequencies. They are scaled
    to mean 1 over the examples, like ``class_weights`` (in the publication: over the classes).

    Args:
        labels: Class of every training example.
        classes: Number of classes.
        beta: From 0 to below 1.

    Example:
        Effective numbers 1.75 and 1, so weights 4 / 7 and 1, with mean 19 / 28 over the examples.

        >>> effective_number_weights([0, 0, 0, 1], classes=2, beta=0.5).round(decimals=4)
        tensor([0.8421, 1.4737], dtype=torch.float64)
    """
    given = class_labels(labels).cpu()
    if not 0 <= beta < 1:
        raise ValueError(f"beta must lie from 0 to below 1, got {beta}; 0 weighs all classes alike")
    if given.min() < 0 or given.max() >= at_least("classes", classes, 1):
        raise ValueError(
            f"labels must lie in 0 .. {classes - 1}, got {int(given.min())} .. "
            f"{int(given.max())}; number the classes from 0 or raise classes"
        )
    counts = given.bincount(minlength=classes).double()
    # expm1 and log1p keep the digits of 1 - beta ** n for beta near 1.
    base = torch.log1p(torch.tensor(-(1 - float(beta)), dtype=torch.float64))
    effective = -torch.expm1(counts * base) / (1 - float(beta)) if beta else counts.clamp(max=1)
    weights = torch.where(counts > 0, 1 / effective.clamp_min(1e-300), 0.0)
    return weights / weights[given].mean()
