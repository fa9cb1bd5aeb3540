"""A stack of methods: its parts, its weights, and the same pipeline as any other method."""

import numpy as np
import pytest
import torch

import oddkout as oko
from oddkout.calibrators.temperature import example_weights
from oddkout.fitting.fit import fit
from oddkout.fitting.folds import UNSCORED
from oddkout.fitting.methods import METHODS, parts_of
from oddkout.fitting.preparation import prepared
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.stack import fit_stack
from oddkout.fitting.training import predict_logits
from oddkout.mixture import mixture_weights

QUICK = {"recipe": {"updates": 60}, "learning_rates": [0.1], "folds": 3}


class KilledError(Exception):
    """Training was killed."""


def table(*, sizes=(40, 20), seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=(len(y), 4)) + y[:, None], y


def stacked(method="stack", **options):
    data = oko.load_data(table(**options.pop("data", {})), seed=0)
    defaults = {
        "method": METHODS[method], "recipe": Recipe(updates=60, learning_rate=0.1), "choices": {},
        "folds": 3, "members": "folds", "calibration": "folds", "population": "train", "seed": 0,
    }  # fmt: skip
    return data, fit_stack(prepared(data), **defaults | options)


def test_parts_depend_on_the_class_sizes():
    def names(sizes):
        return [part.name for part in parts_of(METHODS["stack"], sizes)]

    assert names([10, 10, 0]) == names([15, 10]) == ["oko", "vanilla+ls"]
    assert names([16, 10]) == ["oko+la", "vanilla+ls+la"]
    assert parts_of(METHODS["oko"], [5, 5]) == (METHODS["oko"],)


def test_a_stack_predicts_the_weighted_mean_of_its_parts():
    data, stack = stacked()
    assert [view.method.name for view in stack.views] == ["oko+la", "vanilla+ls+la"]
    assert stack.members == 6 == len(stack.model.members)
    x = prepared(data).x_test
    parts = [
        view.calibrated.combined(predict_logits(view.model, x)).softmax(dim=1)
        for view in stack.views
    ]
    mean = sum(w * part for w, part in zip(stack.weights, parts, strict=True)) ** stack.exponent
    predicted = stack.calibrated.combined(predict_logits(stack.model, x)).softmax(dim=1)
    torch.testing.assert_close(predicted, mean / mean.sum(dim=1, keepdim=True))
    equal = stack.as_trained
    assert [view.weight for view in equal.views] == [0.5, 0.5]
    assert equal.exponent == 1


def test_each_part_is_what_it_is_alone():
    _, stack = stacked()
    _, alone = stacked("vanilla+ls+la")
    first, second = stack.views[1].model.state_dict(), alone.model.state_dict()
    assert all(torch.equal(first[name], second[name]) for name in second)
    assert stack.views[1].calibrated == alone.views[0].calibrated


def test_weights_come_from_out_of_fold_predictions():
    data, stack = stacked()
    y = torch.from_numpy(data.y_train)
    assert (stack.scores.fold_of != UNSCORED).all()
    own = [
        view.scores.calibrated.softmax(dim=1).gather(1, y[:, None])[:, 0] for view in stack.views
    ]
    importance = example_weights(y)
    expected = mixture_weights(torch.stack(own, dim=1), importance=importance)
    assert stack.weights == pytest.approx(expected)


def test_the_score_of_a_stack_is_cross_fitted():
    """Each fold is predicted with weights and an exponent from the other folds."""
    data, stack = stacked()
    y, folds = torch.from_numpy(data.y_train), stack.scores.fold_of
    log_probs = stack.scores.calibrated.log_softmax(dim=1)
    nll = -log_probs.gather(1, y[:, None]).mean().item()
    assert stack.scores.metrics["nll"] == pytest.approx(nll)
    parts = [view.scores.calibrated.softmax(dim=1) for view in stack.views]
    own = torch.stack([part.gather(1, y[:, None])[:, 0] for part in parts], dim=1)
    powers = []
    for fold in range(3):
        others = folds != fold
        share = torch.full((int(others.sum()),), 1 / int(others.sum()))
        weights = mixture_weights(own[others], importance=share)
        mean = sum(w * part[~others] for w, part in zip(weights, parts, strict=True)).log()
        odds = (log_probs[~others, 0] - log_probs[~others, 1]) / (mean[:, 0] - mean[:, 1])
        torch.testing.assert_close(odds, odds[:1].expand_as(odds))
        powers.append(odds[0].item())
    assert len(set(powers)) == 3


@pytest.mark.parametrize("options", [{"folds": 0}, {"calibration": "none"}, {"folds": 1}])
def test_stacks_without_folds_or_calibration_weigh_their_parts_equally(options):
    _, stack = stacked(**options)
    if options == {"folds": 1}:
        assert stack.members == 2
        assert sum(stack.weights) == pytest.approx(1)
    else:
        assert stack.weights == (0.5, 0.5)
        assert stack.exponent == 1


def test_single_members_are_one_network_of_each_part():
    _, stack = stacked(members="single")
    assert stack.members == 2
    assert [view.calibrated.exponent for view in stack.views] == [1, 1]


def test_a_saved_stack_predicts_the_same(tmp_path):
    x, y = table()
    classifier = fit((x, y), method="stack", **QUICK)
    again = oko.Classifier.load(classifier.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict_proba(x), classifier.predict_proba(x))
    assert again.mixture == classifier.mixture
    assert [view.method for view in again.mixture.views] == ["oko+la", "vanilla+ls+la"]
    assert len(classifier.details["views"]) == 2


@pytest.mark.parametrize("method", ["ldam+drw", "crt", "mixup", "remix", "cb", "oko+la"])
def test_every_new_method_fits_saves_and_loads(tmp_path, method):
    x, y = table(sizes=(60, 20, 10))
    classifier = fit((x, y), method=method, **QUICK)
    again = oko.Classifier.load(classifier.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict_proba(x), classifier.predict_proba(x))
    assert (classifier.predict_proba(x).argmax(axis=1) == y).mean() > 0.6
    if method in ("ldam+drw", "crt"):
        assert set(classifier.details["stopped"]["curve"]) == {0.75, 1.0}, "the second stage"


def test_progress_of_a_stack_counts_all_its_parts():
    rows = []
    x, y = table()
    fit((x, y), method="stack", progress=rows.append, **QUICK)
    shares = [row["done"] / row["total"] for row in rows]
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_killed_stack_resumes(tmp_path):
    x, y = table()

    def interrupt(row):
        if row["done"] > 0.7 * row["total"]:
            raise KilledError

    whole = fit((x, y), method="stack", **QUICK)
    with pytest.raises(KilledError):
        fit((x, y), method="stack", checkpoint=tmp_path, progress=interrupt, **QUICK)
    again = fit((x, y), method="stack", checkpoint=tmp_path, **QUICK)
    np.testing.assert_array_equal(again.predict_proba(x), whole.predict_proba(x))


def test_k_is_refused_for_a_stack():
    with pytest.raises(ValueError, match="stack draws no sets, got k=2; leave it out"):
        fit(table(), method="stack", k=2, **QUICK)
