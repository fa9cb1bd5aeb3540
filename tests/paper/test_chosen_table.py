"""The table of choices repeats the choices from their committed runs."""

from dataclasses import replace
from pathlib import Path

from made_up import TEN_SHOT, made_up

from oddkout.paper.chosen_table import chosen_tables
from oddkout.paper.lines import read_lines
from oddkout.paper.presets import PROTOCOL_GRID

RESULTS = Path(__file__).parents[2] / "results"


def test_every_method_got_the_same_lists_and_the_table_shows_the_lowest_score():
    compared = read_lines(RESULTS, kind="choices")
    few = chosen_tables(PROTOCOL_GRID, compared)[1]
    rows = {row[0]: row[1:] for row in few.rows}
    # Four reference settings; rates 3, one more dropout, and one more value of the own parameter.
    own = {"Vanilla + LS", "Focal loss", "BB + LS", "OKO", "Vanilla + LS + LA"}
    assert {name for name, row in rows.items() if row[-1] == "20"} == own
    assert {row[-1] for row in rows.values()} == {"16", "20"}
    assert {name for name, row in rows.items() if row[-2] != "-"} == own
    scores = {}
    for run in compared:
        config = run.config
        if config.method == "bb" and config.folds == 5 and config.dropout == 0.3:
            scores.setdefault(config.learning_rate, []).append(run.fold_metrics["nll"])
    geometric = {rate: _product(own) for rate, own in scores.items()}
    assert rows["BB"][0] == f"{min(geometric, key=geometric.get):g}"


def test_choices_that_are_not_complete_are_left_out():
    run = replace(made_up(TEN_SHOT, "oko", folds=5), protocol="a")
    assert chosen_tables(PROTOCOL_GRID, [run]) == []


def _product(values):
    product = 1.0
    for value in values:
        product *= value
    return product
