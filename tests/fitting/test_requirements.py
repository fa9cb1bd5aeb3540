"""Requirements on class sizes: number of folds, notes, too few classes."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddkout.fitting.methods import METHODS
from oddkout.fitting.requirements import class_notes, fold_count, refuse_few_classes


@given(st.lists(st.integers(0, 6), max_size=8), st.integers(2, 7))
def test_there_are_as_many_folds_as_asked_for_or_as_examples_that_can_be_scored(sizes, folds):
    scored = [example for size in sizes if size > 1 for example in range(size)]
    expected = min(folds, len(scored))
    assert fold_count(sizes, folds=folds) == (expected if expected > 1 else 0)


@pytest.mark.parametrize(
    ("sizes", "codes"),
    [
        ({"a": 5, "b": 5}, []),
        ({"a": 5, "b": 1}, ["single-examples"]),
        ({"a": 5, "b": 0}, ["absent-classes"]),
        ({"a": 1, "b": 1, "c": 0}, ["single-examples", "absent-classes", "no-folds"]),
    ],
)
def test_a_note_is_written_for_each_kind_of_small_class(sizes, codes):
    notes = class_notes(sizes, folds=5)
    assert list(notes) == codes
    small = {"single-examples": 1, "absent-classes": 0}
    for code, size in small.items():
        if code in notes:
            assert all((name in notes[code]) for name in sizes if sizes[name] == size)


def test_a_part_that_is_held_out_is_no_reason_for_a_note():
    assert class_notes({"a": 50, "b": 60}, folds=1) == {}


def test_without_folds_no_note_says_that_there_are_none():
    assert list(class_notes({"a": 1, "b": 1}, folds=0)) == ["single-examples"]


@pytest.mark.parametrize("k", [0, 1, 2, 5])
def test_a_set_needs_a_class_for_its_pair_and_each_odd_example(k):
    method = replace(METHODS["oko"], k=k)
    needed = max(2, k + 1)
    refuse_few_classes(range(needed), method)
    with pytest.raises(ValueError, match=f"oko with k={k} needs at least {needed} classes, got "):
        refuse_few_classes(range(needed - 1), method)
