"""The pipeline: choice of the recipe, length of training, prior, temperature and notes."""

import numpy as np
import pytest
import torch
from torch import nn

from oddkout import Data
from oddkout.fitting.methods import METHODS
from oddkout.fitting.pipeline import fit_network, fold_recipe, train_network
from oddkout.fitting.preparation import prepared
from oddkout.fitting.recipe import Recipe


def data(counts=(20, 20), seed=0):
    y = np.repeat(np.arange(len(counts)), counts)
    x = np.random.default_rng(seed).normal(size=(len(y), 3)) + 2 * y[:, None]
    names = tuple("abc"[: len(counts)])
    return prepared(Data(name="d", x_train=x, y_train=y, x_test=x, y_test=y, classes=names))


def fitted(prepared_data, *, rates=(0.1,), updates=20, **options):
    recipes = [Recipe(updates=updates, learning_rate=rate) for rate in rates]
    defaults = {"method": METHODS["bb"], "folds": 2, "population": "train", "seed": 0}
    return fit_network(prepared_data, recipes=recipes, **defaults | options)


@pytest.mark.parametrize(("updates", "folds", "expected"), [(600, 5, 480), (10, 3, 7), (1, 2, 1)])
def test_the_networks_of_folds_make_as_many_passes_over_fewer_examples(updates, folds, expected):
    recipe = fold_recipe(Recipe(updates=updates, dropout=0.5), folds=folds)
    assert recipe.updates == expected
    assert recipe.dropout == 0.5


def test_the_recipe_with_the_lowest_out_of_fold_nll_is_trained_and_the_first_wins_a_tie():
    best = fitted(data(), rates=(1e-9, 0.2), updates=60)
    assert best.recipe.learning_rate == 0.2
    same = fitted(data(), rates=(0.1, 0.1))
    assert same.scores.metrics == fitted(data()).scores.metrics
    whole = train_network(
        data().x, data().y, recipe=best.recipe, method=METHODS["bb"], classes=2, seed=0
    )
    for ours, theirs in zip(best.model.parameters(), whole.model.parameters(), strict=True):
        assert torch.equal(ours, theirs), "the final network sees all training examples"


def test_progress_counts_the_updates_of_all_networks():
    rows = []
    fitted(data(), rates=(0.1, 0.2), updates=60, progress=rows.append)
    totals = {row["total"] for row in rows}
    assert totals == {60 + 2 * 2 * 30}, "two rates, two folds of 30 updates, and the final network"
    done = [row["done"] for row in rows]
    assert done == sorted(done)
    assert done[-1] == 180


@pytest.mark.parametrize("population", ["train", "uniform"])
@pytest.mark.parametrize("method", ["vanilla", "bb"])
def test_the_ledger_states_the_frequencies_of_the_population(method, population):
    result = fitted(data((30, 10)), method=METHODS[method], population=population)
    assumed = (0.5, 0.5) if method == "bb" else (0.75, 0.25)
    assert result.ledger.assumed == assumed
    assert result.ledger.stated == ((0.75, 0.25) if population == "train" else assumed)
    assert result.ledger.temperature == 1
    assert result.calibrated.temperature == result.temperature != 1


@pytest.mark.parametrize(("method", "own"), [("bb", 1.0), ("bb+ts", 2.0), ("bb+ts-fit", None)])
def test_a_method_may_prescribe_its_own_temperature(method, own):
    result = fitted(data(), method=METHODS[method])
    assert result.as_trained.temperature == (result.temperature if own is None else own)


def test_without_folds_nothing_is_scored_and_the_temperature_is_1():
    result = fitted(data(), folds=0)
    assert result.scores is None
    assert result.calibrated.temperature == 1
    single = fitted(data((1, 1)), folds=5)
    assert single.scores is None
    assert single.notes[-1].startswith("no class has 2 examples")


def test_several_recipes_need_folds():
    with pytest.raises(
        ValueError, match=r"among 2 recipes, learning rates \[0.1, 0.2\], needs folds"
    ):
        fitted(data(), rates=(0.1, 0.2), folds=0)


def test_a_network_with_other_outputs_is_refused():
    recipe = Recipe(model=lambda: nn.Linear(3, 5))
    with pytest.raises(ValueError, match=r"a logit for each of 2 classes, got .* shape \(1, 5\)"):
        train_network(data().x, data().y, recipe=recipe, method=METHODS["bb"], classes=2, seed=0)


def test_a_learning_rate_that_diverges_is_no_candidate():
    recipes = [Recipe(updates=20, learning_rate=rate, clip_norm=None) for rate in (0.1, 1e30)]
    options = {"method": METHODS["vanilla"], "folds": 2, "population": "train", "seed": 0}
    chosen = fit_network(data(), recipes=recipes, **options)
    assert chosen.recipe.learning_rate == 0.1
    assert chosen.notes[-1].startswith("a learning rate was left out: training stopped at update")
    with pytest.raises(ValueError, match="training stopped at update"):
        fit_network(data(), recipes=recipes[1:], **options)
