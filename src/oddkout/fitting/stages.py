"""Training in two stages: balance later, or train the last layer anew on frozen features."""

import torch
from torch import nn

from oddkout.fitting.methods import SECOND_STAGE
from oddkout.models import initialise
from oddkout.models.cosine import last_layer


def second_stage(updates: int) -> int:
    """The first update of the second stage.

    Example:
        >>> second_stage(600)
        360
    """
    return round(SECOND_STAGE * updates)


def renew_last_layer(
    model: nn.Module,
    average: nn.Module | None,
    step: torch.optim.Optimizer,
    generator: torch.Generator,
) -> None:
    """Draw new weights for the last layer; the others become their averages, if there are any."""
    if average is not None:
        model.load_state_dict(average.state_dict())
    _, layer = last_layer(model)
    initialise(layer.cpu(), generator)
    layer.to(next(model.parameters()).device)
    for weights in layer.parameters():
        step.state.pop(weights, None)  # the momentum of the old ones


def use_fixed_statistics(model: nn.Module) -> None:
    """Compute features as in prediction, except for dropout."""
    for part in model.modules():
        part.train(isinstance(part, nn.Dropout))


def drop_other_gradients(model: nn.Module) -> None:
    """Drop all gradients but those of the last layer.

    Weights that need no gradient would be cheaper, but distributed training waits for all of them.
    """
    _, layer = last_layer(model)
    kept = {id(weights) for weights in layer.parameters()}
    for weights in model.parameters():
        if id(weights) not in kept:
            weights.grad = None
