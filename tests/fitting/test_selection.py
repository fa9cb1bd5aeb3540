"""Choices: the candidates of each method, the same for all."""

import pytest

from oddkout.fitting.methods import METHODS
from oddkout.fitting.recipe import Recipe
from oddkout.fitting.search import chosen_stop
from oddkout.fitting.selection import CANDIDATES, alternatives, checked_choices, runs_of

START = Recipe(weight_decay=0.004, head_weight=1.5)


def names(method, choice, values=None):
    candidates = alternatives(
        START, choice, values or CANDIDATES[choice], method=METHODS[method], start=START
    )
    return [
        {
            field: getattr(candidate, field)
            for field in candidate.__dataclass_fields__
            if getattr(candidate, field) != getattr(START, field)
        }
        for candidate in candidates
    ]


def test_the_current_recipe_is_the_first_candidate_and_no_candidate_comes_twice():
    assert names("vanilla", "dropout") == [{}, {"dropout": 0.1}, {"dropout": 0.5}]
    assert names("vanilla", "weight_decay") == [
        {},
        {"weight_decay": 0.001},
        {"weight_decay": 0.016},
    ]
    assert names("vanilla", "augmentation") == [
        {}, {"shift": 2}, {"shift": 2, "flip": True}, {"crop": 0.2},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "field", "usual"),
    [("bb+ls", "smoothing", 0.1), ("focal", "gamma", 2.0), ("oko", "head_weight", 1.5)],
)
def test_the_own_parameter_of_a_method_is_a_multiple_of_its_usual_value(method, field, usual):
    found = [own[field] for own in names(method, "own", (0.3, 2.0)) if own]
    assert found == pytest.approx([0.3 * usual, 2 * usual])


@pytest.mark.parametrize("method", ["vanilla", "bb", "weighted", "pair"])
def test_a_method_without_own_parameter_has_nothing_to_choose_there(method):
    assert names(method, "own") == [{}]


def test_learning_rates_replace_the_current_one():
    assert names("oko", "learning_rate", (0.1, 0.4)) == [
        {"learning_rate": 0.1},
        {"learning_rate": 0.4},
    ]


def test_the_number_of_compared_recipes_is_known_before():
    choices = checked_choices(["dropout", "own"], learning_rates=(0.2, 0.1, 0.2))
    assert choices["learning_rate"] == (0.1, 0.2)
    assert runs_of(choices, recipe=Recipe(), method=METHODS["bb+ls"]) == 2 + 2 + 2
    assert runs_of(choices, recipe=Recipe(), method=METHODS["bb"]) == 2 + 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["momentum"], (0.1,)), "choose must be one of"),
        (([], ()), "learning_rates must hold at least one rate"),
    ],
)
def test_bad_choices_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        checked_choices(arguments[0], learning_rates=arguments[1])


@pytest.mark.parametrize(
    ("nll", "expected"),
    [([0.5], 0), ([0.3, 0.5, 0.6], 0), ([0.6, 0.5, 0.4], 2), ([1.0, 0.5, 0.505, 0.52], 2)],
)
def test_training_stops_as_late_as_out_of_fold_nll_allows(nll, expected):
    assert chosen_stop(nll) == expected
