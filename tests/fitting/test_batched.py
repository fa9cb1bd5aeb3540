"""Training several perceptrons at once gives what training each alone gives."""

import pytest
import torch
from torch import nn

from oddkout.fitting.batched import can_batch, train_batched
from oddkout.fitting.methods import METHODS
from oddkout.fitting.networks import built_network, train_network
from oddkout.fitting.recipe import Recipe
from oddkout.models import cnn

SEEDS = (3, 4, 5)
# Methods that can be trained together; the control's random labels differ.
TOGETHER = [
    name
    for name, method in METHODS.items()
    if name not in ("bb+noise", "stack", "tables", "ldam+drw")
    and not method.is_deferred
    and method.mixing == "none"
]


def problem():
    source = torch.Generator().manual_seed(0)
    x = torch.randn(60, 5, generator=source)
    y = (x[:, 0] > 0).long() + (x[:, 1] > 1).long()
    return x, y, [torch.arange(60) % 3 != fold for fold in range(3)]


def together(method, recipe, **options):
    x, y, is_trained = problem()
    networks = [
        built_network(recipe, method=METHODS["vanilla"], shape=(5,), classes=3, seed=seed)
        for seed in SEEDS
    ]
    return train_batched(
        networks, x, y, is_trained=is_trained, seeds=SEEDS, recipe=recipe,
        method=METHODS[method], classes=3, stops=[15, 30], **options,
    )  # fmt: skip


@pytest.mark.parametrize("method", TOGETHER)
@pytest.mark.parametrize("averaging", [0.2, None])
def test_members_trained_together_equal_members_trained_alone(method, averaging):
    recipe = Recipe(
        updates=40, dropout=0.0, averaging=averaging, examples=12, sets=40, learning_rate=0.03
    )
    x, y, is_trained = problem()
    for number, member in enumerate(together(method, recipe)):
        mask = is_trained[number]
        alone = train_network(
            x[mask], y[mask], recipe=recipe, method=METHODS[method], classes=3,
            seed=SEEDS[number], stops=[15, 30],
        )  # fmt: skip
        for stop in (15, 30):
            for name, weights in alone.snapshots[stop].items():
                torch.testing.assert_close(
                    member.snapshots[stop][name], weights, rtol=1e-3, atol=1e-4
                )


def test_dropout_and_the_noise_head_train_and_depend_on_the_seed_only():
    recipe = Recipe(updates=40, dropout=0.5)
    once, again = together("bb+noise", recipe), together("bb+noise", recipe)
    for first, second in zip(once, again, strict=True):
        for name, weights in first.snapshots[30].items():
            assert torch.equal(weights, second.snapshots[30][name])
    assert once[0].model.state_dict().keys() == {
        name
        for name, _ in built_network(
            recipe, method=METHODS["vanilla"], shape=(5,), classes=3, seed=0
        ).named_parameters()
    }, "the second head is left out"


def test_one_member_that_diverges_does_not_harm_the_others():
    x, y, is_trained = problem()
    recipe = Recipe(updates=40, dropout=0.0, clip_norm=None, averaging=None)
    networks = [
        built_network(recipe, method=METHODS["vanilla"], shape=(5,), classes=3, seed=seed)
        for seed in SEEDS
    ]
    with torch.no_grad():
        networks[1][-1].weight.fill_(torch.inf)
    results = train_batched(
        networks, x, y, is_trained=is_trained, seeds=SEEDS, recipe=recipe,
        method=METHODS["vanilla"], classes=3, stops=[30],
    )  # fmt: skip
    healthy = together("vanilla", recipe)
    assert "training stopped at update 1 of 40" in str(results[1])
    for number in (0, 2):
        for name, weights in results[number].snapshots[30].items():
            torch.testing.assert_close(weights, healthy[number].snapshots[30][name])


def test_only_plain_perceptrons_are_trained_together():
    recipe = Recipe()
    assert can_batch(
        built_network(recipe, method=METHODS["vanilla"], shape=(5,), classes=3, seed=0),
        recipe,
        METHODS["vanilla"],
    )
    assert not can_batch(
        cnn(channels=1, height=16, width=16, classes=3), recipe, METHODS["vanilla"]
    )
    assert not can_batch(nn.Linear(5, 3), recipe, METHODS["vanilla"])
    assert not can_batch(nn.Sequential(nn.Linear(5, 3), nn.ReLU()), recipe, METHODS["vanilla"])
    perceptron = built_network(recipe, method=METHODS["vanilla"], shape=(5,), classes=3, seed=0)
    assert not can_batch(perceptron, Recipe(shift=1), METHODS["vanilla"])
    assert not can_batch(perceptron, Recipe(mixed_precision=True), METHODS["vanilla"])
    assert not can_batch(perceptron, recipe, METHODS["mixup"])
    assert not can_batch(perceptron, recipe, METHODS["crt"])
