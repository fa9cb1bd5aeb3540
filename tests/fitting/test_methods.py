"""The table of methods, and the changes that users may make."""

import pytest

from oddkout.fitting.methods import METHODS, chosen_method


def test_the_paper_and_its_controls_are_all_there():
    paper = {"vanilla", "vanilla+ls", "weighted", "focal", "bb", "bb+ls", "bb+ts", "oko"}
    assert paper | {"oko-soft", "pair", "bb+noise", "bb+ts-fit"} == METHODS.keys()


def test_only_methods_that_draw_or_weigh_classes_evenly_are_balanced():
    unbalanced = {name for name, method in METHODS.items() if not method.is_balanced}
    assert unbalanced == {"vanilla", "vanilla+ls", "focal"}


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
