"""Two stages: deferred weights, and a last layer that is trained anew on frozen features."""

import pytest
import torch
import torch.nn.functional as F

from oddkout.fitting.budget import Budget
from oddkout.fitting.methods import METHODS
from oddkout.fitting.networks import train_network
from oddkout.fitting.objective import Objective
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.stages import second_stage
from oddkout.losses import effective_number_weights, ldam_loss

LABELS = torch.arange(3).repeat_interleave(torch.tensor([30, 12, 3]))
BUDGET = Budget(updates=10, examples=15, sets=1)


class KilledError(Exception):
    """Training was killed."""


def test_margins_hold_always_and_weights_in_the_second_stage():
    """Equal to the public loss of cosines, with weights from update 6 of 10 on."""
    objective = Objective(METHODS["ldam+drw"], LABELS, classes=3, budget=BUDGET)
    cosines = torch.rand(15, 3, dtype=torch.float64)
    counts = LABELS.bincount()
    weight = effective_number_weights(LABELS, classes=3)
    for update in range(10):
        batch, _ = objective.draw(update)
        labels = LABELS[batch]
        loss = objective.loss(30 * cosines, labels, None, update=update, head_weight=0)
        own = weight if update >= 6 else None
        torch.testing.assert_close(loss, ldam_loss(cosines, labels, counts=counts, weight=own))


def test_retraining_draws_natural_batches_first_and_balanced_ones_later():
    objective = Objective(METHODS["crt"], LABELS, classes=3, budget=BUDGET)
    plain = Objective(METHODS["vanilla"], LABELS, classes=3, budget=BUDGET)
    balanced = Objective(METHODS["bb"], LABELS, classes=3, budget=BUDGET)
    assert second_stage(10) == 6
    for update in range(10):
        expected = plain if update < 6 else balanced
        assert torch.equal(objective.draw(update)[0], expected.draw(update)[0])


@pytest.mark.parametrize("averaging", [None, 0.2])
@pytest.mark.parametrize("model", ["mlp", "resnet18-narrow"])
def test_the_second_stage_moves_the_last_layer_alone(model, averaging):
    shape = (6,) if model == "mlp" else (3, 8, 8)
    x = torch.randn(45, *shape, generator=torch.Generator().manual_seed(0))
    recipe = Recipe(model=model, updates=10, examples=15, averaging=averaging, learning_rate=0.05)
    trained = train_network(
        x, LABELS, recipe=recipe, method=METHODS["crt"], classes=3, seed=0, stops=[6, 7, 10]
    )
    before, between, after = (trained.snapshots[stop] for stop in (6, 7, 10))
    *features, weight, bias = before
    for name in features:
        assert torch.equal(before[name], after[name]), name
    for name in (weight, bias):
        assert not torch.equal(before[name], after[name])
        assert not torch.equal(between[name], after[name])


@pytest.mark.parametrize(
    ("method", "kill"), [("crt", 200), ("crt", 400), ("ldam+drw", 400), ("mixup", 200)]
)
def test_killed_and_resumed_training_is_the_same(tmp_path, monkeypatch, method, kill):
    x = torch.randn(45, 4, generator=torch.Generator().manual_seed(0))
    recipe = Recipe(updates=500, examples=15)

    def trained(**options):
        return train_network(
            x, LABELS, recipe=recipe, method=METHODS[method], classes=3, seed=0, **options
        ).model.state_dict()

    whole = trained()

    def interrupt(row):
        if row["update"] == kill + 50:
            raise KilledError

    file = tmp_path / "state.safetensors"
    with pytest.raises(KilledError):
        trained(checkpoint=file, progress=interrupt)
    for name, weights in trained(checkpoint=file).items():
        assert torch.equal(weights, whole[name]), name


def test_a_retrained_layer_helps_rare_classes():
    """Two noisy classes, 20 to 1: natural training ignores the rare one, retraining does not."""
    source = torch.Generator().manual_seed(0)
    y = torch.arange(2).repeat_interleave(torch.tensor([400, 20]))
    x = torch.randn(420, 2, generator=source) + 1.0 * y[:, None]
    recipe = Recipe(updates=300, examples=40)
    recalls = {}
    for name in ("vanilla", "crt"):
        model = train_network(x, y, recipe=recipe, method=METHODS[name], classes=2, seed=0).model
        fresh = torch.randn(1000, 2, generator=torch.Generator().manual_seed(1)) + 1.0
        recalls[name] = (model(fresh).argmax(dim=1) == 1).float().mean().item()
        assert F.softmax(model(fresh), dim=1).isfinite().all()
    assert recalls["crt"] > recalls["vanilla"] + 0.2
