"""The paper's tables with our numbers beside the paper's."""

import pytest
from made_up import TEN_SHOT, evidence_of, with_seeds

from oddkout.paper.published import ACCURACY
from oddkout.paper.settings import Setting, paper_sizes
from oddkout.paper.tables import paper_table, table_cell


def test_a_difference_to_the_paper_needs_all_of_its_sizes():
    whole = [
        run
        for size in paper_sizes("mnist")
        for run in with_seeds(Setting("mnist", "uniform", size), "oko", [0.9, 0.9])
    ]
    cell = table_cell(evidence_of(whole), ACCURACY, "oko", "mnist", "uniform")
    assert cell.difference == pytest.approx(0.9 - 0.9362)
    assert cell.seeds == 2
    cell = table_cell(evidence_of(whole[2:]), ACCURACY, "oko", "mnist", "uniform")
    assert cell.ours.mean == pytest.approx(0.9)
    assert cell.difference is None


def test_a_row_that_lacks_a_size_of_its_column_has_no_number():
    large = Setting("mnist", "uniform", 100)
    evidence = evidence_of(
        with_seeds(TEN_SHOT, "oko", [0.8]),
        with_seeds(large, "oko", [0.9]),
        with_seeds(large, "bb", [0.9]),
    )
    assert table_cell(evidence, ACCURACY, "oko", "mnist", "uniform").ours.mean == pytest.approx(
        0.85
    )
    assert table_cell(evidence, ACCURACY, "bb", "mnist", "uniform").ours is None
    assert "| BB | 1 of 2 sizes | 92.31 |" in paper_table(evidence, ACCURACY).markdown()
