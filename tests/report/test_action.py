"""What to do: the winner, its command, and no promise that its runs do not hold."""

from dataclasses import replace

import numpy as np
import pytest
from grids import comparison_of
from synthetic import fill

from oddkout.report.action import promised, recommended

COSTS = 5 * (1 - np.eye(4))


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return fill(folder, methods=["vanilla", "bb", "oko"], skill=4.0, costs=COSTS)[1]


def test_the_winner_is_recommended_with_its_reasons(comparison):
    doubtful = replace(comparison, warnings=["the patients are on both sides"])
    action = recommended(doubtful, runs="runs")
    winner, second = comparison.ranked[:2]
    assert action.title == f"Train {winner}"
    assert action.command == "oddkout train digits --method best --from runs --out model"
    assert action.reasons[0].startswith("It has the lowest out-of-fold cost, ")
    assert f"; next is {second} with " in action.reasons[0]
    assert "cost per case" in action.reasons[1]
    assert action.limits[0] == "The patients are on both sides."


def test_promises_are_those_of_the_runs(comparison):
    can, cannot = promised(comparison, "oko")
    run = comparison.by_method["oko"][0]
    words = " ".join([*can, *cannot])
    assert run.promises["sets"]["guarantee"][1:] in words
    assert "[ant (3)] have fewer" in " ".join(cannot)
    assert "nothing is guaranteed" not in " ".join(can)
    for answers, metric in zip(run.promises["answers"], comparison.tried[2:], strict=True):
        share = comparison.mean("oko", metric, is_tempered=True).mean
        if share:
            assert f"on the test part {100 * share:.1f} %" in " ".join(can)
        else:
            assert answers["notes"][0][1:] in " ".join(cannot)
    assert "The confidence in answers is approximate" in " ".join(cannot)


def test_seeds_that_answer_nothing_are_counted_and_do_not_lend_their_words(comparison):
    number = len(comparison.tried) - 3
    silent, *others = comparison.by_method["oko"]
    assert others[0].answered[:, number].any()
    answers = [one | {"guarantee": "NOTHING"} for one in silent.promises["answers"]]
    nothing = replace(
        silent,
        answered=np.zeros_like(silent.answered),
        promises=silent.promises | {"answers": answers},
    )
    runs = [nothing if run is silent else run for run in comparison.runs]
    can, _ = promised(replace(comparison, runs=runs), "oko")
    assert "NOTHING" not in " ".join(can)
    assert f"are answered by {len(others)} of {len(others) + 1} seeds, " in can[-1]


def test_someone_better_on_the_test_part_is_named(comparison):
    best = comparison.best("cost", is_tempered=True)
    for name in comparison.methods:
        runs = [
            replace(
                run, fold_metrics=run.fold_metrics | {"cost": 9.0 * (run.config.method != name)}
            )
            for run in comparison.runs
        ]
        action = recommended(replace(comparison, runs=runs), runs="runs")
        assert action.title == f"Train {name}"
        assert (f"There {best} is ahead, " in " ".join(action.reasons)) == (name != best)


def test_without_a_winner_nothing_is_trained():
    failed = recommended(comparison_of(vanilla=[None], oko=[None]), runs="runs")
    assert (failed.title, failed.reasons) == ("Compare again", ["Every method failed."])
    assert failed.command == "oddkout doctor digits"
    comparison = comparison_of(guess=[0.9, 0.9], oko=[0.2, 0.2])
    action = recommended(comparison, runs="runs")
    assert action.title == "Check the data first"
    assert "Guessing the class frequencies has the lowest out-of-fold NLL" in action.reasons[0]


def test_runs_without_a_trial_promise_nothing():
    action = recommended(comparison_of(oko=[0.9, 0.8], bb=[0.5, 0.6]), runs="runs")
    assert action.promises == []
    assert "Nothing is known of prediction sets" in action.limits[0]
