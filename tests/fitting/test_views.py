"""The views of the method ``tables``."""

import numpy as np
import pytest
import torch

from oddkout.data import load_data
from oddkout.fitting.fit import fit
from oddkout.fitting.methods import METHODS, chosen_method
from oddkout.fitting.pipeline import fit_network
from oddkout.fitting.preparation import prepared
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.views import table_recipe, views_of
from oddkout.models.encodings import Encoding


def table(rows=150, seed=0):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(rows, 3))
    return x, (x[:, 0] * x[:, 1] + 0.3 * generator.normal(size=rows) > 0).astype(int)


def test_each_view_has_its_encoding_network_and_method():
    plans = views_of(METHODS["tables"], [90, 60], recipe=Recipe(), choices={"learning_rate": (1,)})
    assert [(p.recipe.encoding, p.recipe.model, p.method.name) for p in plans] == [
        ("piecewise", "mlp-small", "vanilla"),
        ("standard", "mlp-small", "oko+la"),
        ("normal", "mlp-small", "vanilla"),
        ("standard", "linear", "vanilla"),
        ("standard", "forest", "vanilla"),
    ]
    assert all(plan.choices == {} for plan in plans), "only where to stop is chosen"
    assert plans[3].recipe.learning_rate == 4 * plans[0].recipe.learning_rate
    own = views_of(
        chosen_method("tables", k=2), [9, 6, 5], recipe=table_recipe([9], updates=7), choices={}
    )
    assert [plan.recipe.updates for plan in own] == [7, 7, 7, 7, 1], "a forest needs no updates"
    assert [plan.method.k for plan in own] == [0, 2, 0, 0, 0]
    with pytest.raises(ValueError, match="tables has no odd-class head"):
        chosen_method("tables", head=True)


def test_members_learn_their_encoding_without_the_fold_that_they_predict():
    x, y = table(60)
    data = prepared(load_data((x, y), test_size=0, seed=0))
    plan = views_of(
        METHODS["tables"], [30, 30], recipe=table_recipe([30, 30], updates=20), choices={}
    )
    fitted = fit_network(
        data, method=plan[0].method, recipe=plan[0].recipe, choices={}, folds=3,
        members="folds", calibration="folds", population="train", seed=0,
    )  # fmt: skip
    for fold, member in enumerate(fitted.model.members):
        own = data.x[fitted.scores.fold_of != fold]
        expected = Encoding(fitted.encoding).fit(own)
        for name, value in expected.state_dict().items():
            assert torch.equal(member.encoding.state_dict()[name], value)
    assert not torch.equal(
        fitted.model.members[0].encoding.mean, fitted.model.members[1].encoding.mean
    )
    assert set(fitted.curve) == {20 / 20 * 13 / 20}, "13 updates for two thirds of the examples"


def test_the_stack_learns_what_a_line_cannot_and_says_so():
    x, y = table(400)
    classifier = fit((x, y), method="tables", folds=4, recipe={"updates": 300})
    assert classifier.evaluation["nll"].value < 0.5, "guessing has 0.69"
    weights = [view.weight for view in classifier.mixture.views]
    assert weights[3] < 0.1, "the linear view"
    again = fit((x, y), method="tables", folds=4, recipe={"updates": 300})
    np.testing.assert_array_equal(again.predict_proba(x), classifier.predict_proba(x))


def test_one_network_of_each_view_can_be_trained_on_everything():
    x, y = table(80)
    classifier = fit((x, y), method="tables", folds=2, recipe={"updates": 30}, members="single")
    assert classifier.members == 5
    held_out = fit((x, y), method="tables", folds=1, recipe={"updates": 30})
    assert held_out.members == 5
    assert held_out.details["views"][0]["stopped"]["updates"] >= 20, "stops at a fine grid"


def test_images_are_refused():
    images = np.random.default_rng(0).random((20, 5, 5))
    with pytest.raises(ValueError, match=r"needs rows of features, but examples have .* \(1, 5, 5"):
        fit((images, [0, 1] * 10), method="tables", folds=2)
