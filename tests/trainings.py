"""Short trainings on the digits, for tests."""

import torch

from oddkout.fitting.methods import METHODS
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.training import train
from oddkout.models import build_model


def run(
    x, y, *, method="oko", name="mlp", seed=0, dropout=0.0, checkpoint=None, groups=None, **changes
):
    generator = torch.Generator().manual_seed(seed)
    shape = tuple(x.shape[1:])
    model = build_model(name, shape=shape, classes=10, generator=generator, dropout=dropout)
    recipe = Recipe(**{"updates": 120, "examples": 30, "sets": 64, "learning_rate": 0.1} | changes)
    return train(
        model,
        x,
        y,
        method=METHODS[method],
        classes=10,
        seed=seed,
        checkpoint=checkpoint,
        groups=groups,
        **recipe.options,
    )


def weights(trained):
    return torch.cat([parameter.detach().flatten() for parameter in trained.model.parameters()])
