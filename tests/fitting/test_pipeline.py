"""The pipeline: members, choices out of fold, prior, calibration and notes."""

import numpy as np
import pytest
import torch
from torch import nn

from oddkout import Data
from oddkout.fitting.methods import METHODS
from oddkout.fitting.networks import train_network
from oddkout.fitting.pipeline import ensemble_exponent, fit_network
from oddkout.fitting.preparation import prepared
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.training import predict_logits


def data(counts=(20, 20), seed=0):
    y = np.repeat(np.arange(len(counts)), counts)
    x = np.random.default_rng(seed).normal(size=(len(y), 3)) + 2 * y[:, None]
    names = tuple("abc"[: len(counts)])
    return prepared(Data(name="d", x_train=x, y_train=y, x_test=x, y_test=y, classes=names))


def fitted(prepared_data, *, rates=(0.1,), recipe=None, **options):
    start = Recipe(**{"updates": 20, "learning_rate": rates[0]} | (recipe or {}))
    defaults = {
        "method": METHODS["bb"],
        "folds": 2,
        "members": "folds",
        "calibration": "folds",
        "population": "train",
        "seed": 0,
        "choices": {"learning_rate": rates},
    }
    return fit_network(prepared_data, recipe=start, **defaults | options)


def test_the_recipe_with_the_lowest_out_of_fold_nll_is_used():
    best = fitted(data(), rates=(1e-9, 0.2), recipe={"updates": 60})
    assert best.recipe.learning_rate == 0.2
    assert [recipe.learning_rate for recipe, _ in best.choices] == [1e-9, 0.2]
    assert best.choices[1][1] == best.scores.metrics["nll"] < best.choices[0][1]


def test_every_fold_has_a_member_and_their_mean_predicts():
    three = fitted(data(), folds=3)
    assert three.members == 3
    logits = predict_logits(three.model, data().x_test)
    assert logits.shape == (40, 3, 2)
    probs = three.calibrated.calibrator(logits).softmax(dim=2).mean(dim=1)
    sharpened = probs ** ensemble_exponent(3)
    expected = sharpened / sharpened.sum(dim=1, keepdim=True)
    torch.testing.assert_close(three.calibrated.combined(logits).softmax(dim=1), expected)


def test_out_of_fold_logits_are_those_of_the_member_that_did_not_see_the_example():
    result = fitted(data(), folds=4)
    logits = predict_logits(result.model, data().x)
    for fold in range(4):
        is_held = result.scores.fold_of == fold
        own = logits[is_held, fold].float()
        torch.testing.assert_close(result.scores.logits[is_held], own)


def test_a_single_network_is_trained_on_everything_as_long_as_the_folds_chose():
    result = fitted(data(), members="single", recipe={"updates": 80})
    assert result.members == 1
    share = result.updates / 80
    assert share in result.curve
    whole = train_network(
        data().x, data().y, recipe=result.recipe, method=METHODS["bb"], classes=2, seed=0,
        stops=[result.updates],
    )  # fmt: skip
    for ours, theirs in zip(result.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert result.calibrated.exponent == 1


def test_training_stops_where_the_out_of_fold_nll_says():
    """A network that only memorises noise is best after the fewest updates."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 30)), rng.integers(0, 2, 60)
    noise = prepared(Data(name="n", x_train=x, y_train=y, x_test=x, y_test=y, classes=("a", "b")))
    result = fitted(
        noise,
        calibration="none",
        rates=(0.02,),
        recipe={"updates": 200, "dropout": 0.0, "weight_decay": 0.0},
        method=METHODS["vanilla"],
    )
    assert result.updates == min(round(stop * 100) for stop in result.curve)
    assert next(iter(result.curve.values())) == min(result.curve.values())


def test_with_a_decaying_rate_training_never_stops_early():
    result = fitted(data(), recipe={"schedule": "cosine"})
    assert list(result.curve) == [1.0]


@pytest.mark.parametrize("members", ["folds", "single"])
def test_progress_counts_the_updates_of_all_networks(members):
    rows = []
    fitted(data(), rates=(0.1, 0.2), recipe={"updates": 60}, members=members, progress=rows.append)
    totals = {row["total"] for row in rows}
    assert totals == {2 * 2 * 30 + (60 if members == "single" else 0)}
    done = [row["done"] for row in rows]
    assert done == sorted(done)
    assert done[-1] <= max(totals)


@pytest.mark.parametrize("population", ["train", "uniform"])
@pytest.mark.parametrize("method", ["vanilla", "bb"])
def test_the_ledger_states_the_frequencies_of_the_population(method, population):
    result = fitted(data((30, 10)), method=METHODS[method], population=population)
    assumed = (0.5, 0.5) if method == "bb" else (0.75, 0.25)
    assert result.ledger.assumed == assumed
    assert result.ledger.train == (0.75, 0.25)
    assert result.as_trained.stated == ((0.75, 0.25) if population == "train" else assumed)
    assert result.calibrated.stated == ((0.75, 0.25) if population == "train" else (0.5, 0.5))
    assert result.ledger.temperature == 1 != result.calibrated.temperature


@pytest.mark.parametrize(("method", "own"), [("bb", 1.0), ("bb+ts", 2.0), ("bb+ts-fit", None)])
def test_a_method_may_prescribe_its_own_temperature(method, own):
    result = fitted(data(), method=METHODS[method])
    fit = result.calibrated.temperature
    assert result.as_trained.temperature == (fit if own is None else own)


def test_without_folds_nothing_is_scored_and_the_temperature_is_1():
    result = fitted(data(), folds=0)
    assert result.scores is None
    assert result.calibrated.temperature == 1
    assert (result.members, result.updates) == (1, 20)
    single = fitted(data((1, 1)), folds=5)
    assert single.scores is None
    assert single.notes[-1].startswith("no class has 2 examples")


def test_choices_need_folds():
    with pytest.raises(
        ValueError, match=r"among 2 recipes, learning rates \[0.1, 0.2\], needs folds"
    ):
        fitted(data(), rates=(0.1, 0.2), folds=0)


def test_a_class_too_small_for_the_folds_is_always_trained_on_and_never_scored():
    result = fitted(data((20, 20, 1)), folds=4)
    assert (result.scores.fold_of[-1], result.members) == (-1, 4)
    assert any("never scored out of fold" in note for note in result.notes)
    assert result.calibrated.combined(predict_logits(result.model, data().x_test)).shape == (40, 3)


def test_a_network_with_other_outputs_is_refused():
    recipe = Recipe(model=lambda: nn.Linear(3, 5))
    with pytest.raises(ValueError, match=r"a logit for each of 2 classes, got .* shape \(1, 5\)"):
        train_network(data().x, data().y, recipe=recipe, method=METHODS["bb"], classes=2, seed=0)


@pytest.mark.parametrize("is_batched", [True, False])
def test_a_learning_rate_that_diverges_is_no_candidate(is_batched):
    recipe = {"clip_norm": None} | ({} if is_batched else {"model": perceptron})
    chosen = fitted(data(), rates=(0.1, 1e30), recipe=recipe, method=METHODS["vanilla"])
    assert chosen.recipe.learning_rate == 0.1
    assert chosen.notes[-1].startswith("a recipe was left out: training stopped at update")
    with pytest.raises(ValueError, match="training stopped at update"):
        fitted(data(), rates=(1e30,), recipe=recipe, method=METHODS["vanilla"])


def perceptron(classes):
    """A network that is not batched, because it is not a plain sequence."""
    return nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.Tanh()), nn.Linear(4, classes))


def test_one_member_may_fail(monkeypatch):
    """The others predict without it; the examples of its fold are not scored."""
    from oddkout.fitting import members

    calls = []

    def failing(*arguments, **options):
        calls.append(options["seed"])
        if len(calls) == 2:
            raise ValueError("training stopped at update 3")
        return train_network(*arguments, **options)

    monkeypatch.setattr(members, "train_network", failing)
    result = fitted(data(), folds=4, recipe={"model": perceptron})
    assert result.members == 3
    assert "1 of 4 members failed" in result.notes[-1]
    assert (result.scores.fold_of == 1).sum() == 0
    assert (result.scores.fold_of == -1).sum() == 10


@pytest.mark.parametrize("members", ["folds", "single"])
@pytest.mark.parametrize("done", [1, 4, 6])
def test_a_killed_fit_resumes_to_the_same_classifier(tmp_path, monkeypatch, members, done):
    """Killed after some rows of the log, then started again with the same checkpoints."""
    from oddkout.fitting import training

    monkeypatch.setattr(training, "CHECKPOINT_EVERY", 30)
    options = {
        "folds": 3, "members": members, "rates": (0.1, 0.2),
        "recipe": {"model": perceptron, "updates": 150},
    }  # fmt: skip
    whole = fitted(data(), **options)
    rows = []

    def kill(row):
        rows.append(row)
        if len(rows) > done:
            raise KeyboardInterrupt

    folder = tmp_path / "states"
    with pytest.raises(KeyboardInterrupt):
        fitted(data(), checkpoints=folder, progress=kill, **options)
    assert list(folder.rglob("*.safetensors"))
    rows.clear()
    resumed = fitted(data(), checkpoints=folder, **options)
    for ours, theirs in zip(
        whole.model.state_dict().values(), resumed.model.state_dict().values(), strict=True
    ):
        assert torch.equal(ours, theirs)
    assert whole.calibrated == resumed.calibrated
    assert whole.choices == resumed.choices


def test_choosing_an_augmentation_needs_images():
    with pytest.raises(ValueError, match=r"needs images, but examples have the shape \(3,\)"):
        fitted(data(), choices={"augmentation": ("none", "shift")})


def test_members_trained_in_processes_are_the_same():
    """Small images, so that the networks are convolutions, which are not batched."""
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    x = rng.normal(size=(24, 1, 16, 16)).astype(np.float32) + y[:, None, None, None]
    images = prepared(Data(name="i", x_train=x, y_train=y, x_test=x, y_test=y, classes=("a", "b")))
    rows = []
    alone, together = (
        fitted(images, folds=3, recipe={"updates": 6}, processes=count, progress=rows.append)
        for count in (1, 2)
    )
    for ours, theirs in zip(alone.model.parameters(), together.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert alone.calibrated == together.calibrated
    assert rows[-1]["done"] == rows[-1]["total"] == 12
