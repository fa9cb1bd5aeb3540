"""Training: every method learns, and the same arguments give the same weights."""

import pytest
import torch
from trainings import run, weights

from oddkout.fitting.methods import METHODS
from oddkout.fitting.training import predict_logits
from oddkout.models import build_model


@pytest.mark.parametrize("method", METHODS)
def test_every_method_learns(digits, method):
    x, y, x_test, y_test = digits
    trained = run(x, y, method=method, updates=200)
    accuracy = (predict_logits(trained.model, x_test).argmax(dim=1) == y_test).double().mean()
    assert accuracy > 0.6, "chance is 0.1"
    assert not trained.model.training
    assert set(trained.model.state_dict()) == set(
        build_model("mlp", shape=(1, 8, 8), classes=10, generator=torch.Generator()).state_dict()
    ), "no second head is left"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"method": "vanilla", "optimiser": "adamw", "learning_rate": 1e-3},
        {"averaging": 0.9},
        {"layout": "paper", "sets": 20},
        {"clip_value": 0.1, "clip_norm": None, "weight_decay": 1e-3},
        {"dropout": 0.5},
        {"shift": 1, "flip": True, "crop": 0.2},
        {"mixed_precision": True},
    ],
)
def test_the_same_arguments_give_the_same_weights_to_the_bit(digits, changes):
    x, y, *_ = digits
    first, again = (run(x, y, updates=40, **changes) for _ in range(2))
    assert torch.equal(weights(first), weights(again))
    assert first.log == again.log
    other = run(x, y, updates=40, **changes | {"seed": 1})
    assert not torch.equal(weights(first), weights(other))


def test_global_randomness_is_neither_used_nor_touched(digits):
    x, y, *_ = digits
    torch.manual_seed(1)
    first = run(x, y, updates=20, dropout=0.5)
    torch.manual_seed(2)
    before = torch.random.get_rng_state()
    again = run(x, y, updates=20, dropout=0.5)
    assert torch.equal(weights(first), weights(again))
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("changes", [{"dropout": 0.5}, {"shift": 1}, {"flip": True}, {"crop": 0.3}])
def test_an_option_that_makes_training_harder_makes_a_difference(digits, changes):
    x, y, *_ = digits
    options = {"updates": 60, "schedule": "cosine"}
    plain, harder = run(x, y, **options), run(x, y, **options, **changes)
    assert not torch.equal(weights(plain), weights(harder))
    assert harder.log[-1]["loss"] > plain.log[-1]["loss"]


def test_mixed_precision_keeps_weights_in_float32_and_stays_near(digits):
    x, y, x_test, y_test = digits
    mixed = run(x, y, updates=150, mixed_precision=True)
    assert {parameter.dtype for parameter in mixed.model.parameters()} == {torch.float32}
    plain = run(x, y, updates=150, mixed_precision=False)
    assert not torch.equal(weights(mixed), weights(plain))
    right = [predict_logits(t.model, x_test).argmax(dim=1) == y_test for t in (mixed, plain)]
    assert abs(right[0].double().mean() - right[1].double().mean()) < 0.05


def test_augmentation_of_a_table_is_refused(digits):
    _, y, *_ = digits
    with pytest.raises(ValueError, match="shift, flip and crop need images"):
        run(torch.zeros(len(y), 5), y, shift=1)


def test_an_average_of_weights_lags_behind(digits):
    x, y, *_ = digits
    plain, averaged = run(x, y, updates=60), run(x, y, updates=60, averaging=0.99)
    start = run(x, y, updates=1, learning_rate=1e-12)
    far, near = ((weights(t) - weights(start)).norm() for t in (plain, averaged))
    assert near < far


@pytest.mark.parametrize(
    ("method", "changes", "text"),
    [
        (
            "vanilla",
            {"learning_rate": 1e30, "clip_norm": None},
            r"stopped at update \d+ of 120.*low",
        ),
        (
            "oko",
            {"learning_rate": 1e30, "clip_norm": None},
            r"stopped at update \d+ of 120.*clip gr",
        ),
        ("vanilla", {"updates": 0}, "updates must be at least 1"),
    ],
)
def test_a_run_that_goes_astray_is_stopped(digits, method, changes, text):
    x, y, *_ = digits
    with pytest.raises(ValueError, match=text):
        run(x, y, method=method, **changes)
