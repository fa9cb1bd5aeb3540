"""The table of methods, and the changes that users may make."""

import pytest

from oddkout.fitting.methods import (
    DEFAULT_METHODS,
    METHODS,
    PAPER_METHODS,
    TABLE_METHODS,
    chosen_method,
    method_names,
)


def test_the_paper_and_its_controls_are_all_there():
    paper = {"vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls", "bb+ts", "oko"}
    assert paper | {"oko-soft", "pair", "bb+noise", "bb+ts-fit"} == set(PAPER_METHODS)
    assert METHODS.keys() > set(PAPER_METHODS)


def test_every_method_says_what_it_is_and_the_default_list_is_short():
    assert all(method.summary.endswith(".") for method in METHODS.values())
    for names in (DEFAULT_METHODS, TABLE_METHODS):
        assert len(names) <= 8
        assert set(names) < METHODS.keys()
    assert method_names(["all"]) == list(METHODS)


def test_batches_follow_from_loss_and_balance():
    by_batches = {}
    for name, method in METHODS.items():
        by_batches.setdefault(method.batches, set()).add(name)
    assert by_batches["balanced"] == {"bb", "bb+ls", "bb+ts", "bb+ts-fit", "bb+noise", "crt"}
    assert by_batches["pool"] == {"pair", "oko", "oko-soft"}
    assert by_batches["paired"] == {"oko+la"}
    assert by_batches["shuffled"] >= {"vanilla", "focal", "weighted", "vanilla+la", "cb"}


def test_the_head_is_for_one_odd_class_unless_it_is_asked_for():
    assert chosen_method("oko").head == "odd"
    assert chosen_method("oko", k=2).head == "none"
    assert chosen_method("oko", k=2, head=True).head == "odd"
    assert chosen_method("oko", head=False).head == "none"


@pytest.mark.parametrize(
    ("name", "changes", "text"),
    [
        ("okko", {}, "method must be one of 'vanilla'"),
        ("vanilla", {"k": 1}, "vanilla draws no sets, got k=1; leave it out"),
        ("bb", {"head": True}, "bb draws no sets, got head=True; leave it out"),
        ("oko", {"k": -1}, "k must be at least 0, got -1"),
        ("oko", {"k": 0, "head": True}, "an odd-class head needs an odd class, got k=0"),
    ],
)
def test_changes_that_make_no_sense_are_refused(name, changes, text):
    with pytest.raises(ValueError, match=text):
        chosen_method(name, **changes)
