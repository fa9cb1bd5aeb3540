"""The recipe: adaptation to the number of examples, and changes by users."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddkout.fitting.recipe import Recipe, changed_recipe, suited_to


@given(st.lists(st.integers(1, 500), min_size=1, max_size=20))
def test_examples_count_by_the_variance_of_a_mean_over_balanced_classes(sizes):
    """The number of balanced examples that gives a class-balanced mean the same variance."""
    variance = sum(1 / size for size in sizes) / len(sizes) ** 2
    ratio = max(1, 1 / variance / len(sizes) / 10)
    suited = suited_to([*sizes, 0])
    assert suited["weight_decay"] == pytest.approx(2e-3 / ratio, rel=0.01)
    head = min(1, 10 / len(sizes)) * 2 / ratio
    assert suited["head_weight"] == pytest.approx(head, rel=0.01)
    assert suited_to(reversed(sizes)) == suited_to(sizes)


@given(st.lists(st.integers(1, 5000), min_size=2, max_size=300))
def test_training_is_long_enough_for_data_of_every_size(sizes):
    suited = suited_to(sizes)
    assert 20 <= suited["examples"] <= 128
    assert suited["examples"] >= min(2 * len(sizes), 128), "two of every class, if possible"
    forwarded = suited["updates"] * suited["examples"]
    assert forwarded >= 0.99 * max(12_000, 8 * sum(sizes)), "at least eight passes"
    more = suited_to([2 * size for size in sizes])
    assert more["updates"] * more["examples"] >= 0.99 * forwarded
    assert suited["sets"] == pytest.approx(12.8 * suited["examples"], abs=0.5)


@pytest.mark.parametrize(
    ("sizes", "examples", "updates"),
    [
        ([5, 5], 20, 600),
        ([10] * 10, 20, 600),
        ([500] * 10, 100, 1142),
        ([6000] * 10, 128, 5081),
        ([40] * 100, 128, 763),
        ([2] * 1000, 128, 470),
    ],
)
def test_the_budget_of_some_sizes(sizes, examples, updates):
    suited = suited_to(sizes)
    assert (suited["examples"], suited["updates"]) == (examples, updates)


@pytest.mark.parametrize("sizes", [[10] * 10, [2, 3], [60] * 3 + [3] * 6 + [2]])
def test_few_examples_of_a_class_are_what_the_defaults_are_for(sizes):
    assert Recipe(**suited_to(sizes)) == Recipe()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"learning_rate": 0}, "learning_rate must be above 0, got 0"),
        ({"learning_rate": float("nan")}, "learning_rate must be above 0, got nan"),
        ({"examples": 0}, "examples must be at least 1, got 0"),
        ({"crop": 2}, "crop must be a share"),
        ({"stop_every": -1}, "stop_every must be at least 0, got -1"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused(changes, text):
    with pytest.raises(ValueError, match=text):
        Recipe(**changes)


def test_every_part_of_the_recipe_reaches_training():
    """Each field changes the arguments of ``train``, except those of network, method and stops."""
    values = {"updates": 7, "examples": 7, "sets": 7, "layout": "paper", "learning_rate": 0.7,
              "optimiser": "adamw", "momentum": 0.7, "weight_decay": 0.7, "warm_up": 0.7,
              "clip_norm": 0.7, "clip_value": 0.7, "head_weight": 0.7, "head_until": 0.7,
              "averaging": 0.7, "shift": 7, "flip": True, "crop": 0.7, "compiled": True,
              "mixed_precision": True, "schedule": "cosine"}  # fmt: skip
    names = {part.name for part in fields(Recipe)}
    others = {"model", "dropout", "smoothing", "gamma", "encoding", "stop_every"}
    assert names - values.keys() == others
    usual = repr(Recipe().options)
    changed = {repr(Recipe(**{name: value}).options) for name, value in values.items()}
    assert len(changed | {usual}) == len(values) + 1


def test_changes_replace_what_suits_the_data_and_typos_are_named():
    assert changed_recipe([20, 20], {"updates": 30, "flip": True}) == {
        "updates": 30, "examples": 20, "sets": 256, "weight_decay": 1e-3, "head_weight": 1.0,
        "flip": True,
    }  # fmt: skip
    with pytest.raises(ValueError, match="no field 'update'; did you mean 'updates'"):
        changed_recipe([5], {"update": 30})
    with pytest.raises(ValueError, match="no field 'colour'; fields are model, dropout, updates"):
        changed_recipe([5], {"colour": "red"})
