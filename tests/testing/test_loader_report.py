"""A report names every problem, and only those."""

import pytest

from oddkout.testing import LoaderReport


def report_of(**changes):
    """A report of a sound loader, but for the changes."""
    sound = {
        "layout": "paper",
        "k": 1,
        "batches": [[4, 4], [4, 4]],
        "units": 16,
        "broken": 0,
        "first_broken": "",
        "shared_by_ranks": 0.0,
        "shared_by_epochs": 0.0,
        "p_value": 0.5,
        "draws": (3.0, 5.0, 4.0),
        "evidence": "indices",
    }
    return LoaderReport(**sound | changes)


def test_a_sound_loader_has_no_problems():
    report = report_of()
    assert report.is_sound
    assert report.problems == []
    assert "NO" not in str(report)
    report.raise_if_broken()


@pytest.mark.parametrize(
    ("changes", "claim", "text"),
    [
        ({"broken": 2, "first_broken": "here"}, "is_whole", "2 of 16 sets are broken, first here"),
        ({"batches": [[4, 4], [3, 4]]}, "is_even", "give all ranks the same number"),
        ({"shared_by_ranks": 0.75}, "ranks_differ", "ranks share 75% of their batches"),
        ({"shared_by_epochs": 0.75}, "epochs_differ", "call set_epoch before every epoch"),
        ({"p_value": 1e-6, "draws": (0.0, 8.0, 4.0)}, "is_uniform", "one class came 0 times"),
    ],
)
def test_each_problem_is_named_once(changes, claim, text):
    report = report_of(**changes)
    assert not getattr(report, claim)
    assert not report.is_sound
    (problem,) = report.problems
    assert text in problem
    assert str(report).count(" NO ") == 1
    with pytest.raises(ValueError, match="batches do not arrive as they were drawn"):
        report.raise_if_broken()
