"""The rows of all tables: means, ties and null levels."""

import statistics

import pytest
from grids import comparison_of

from oddkout.comparing.rows import Cell, table_rows
from oddkout.comparing.schema import COMPARED
from oddkout.comparing.statistics import Interval


@pytest.mark.parametrize(
    ("metric", "interval", "text"),
    [
        ("accuracy", Interval(0.9, 0.85, 0.95), "90.0 [85.0, 95.0]"),
        ("nll", Interval(0.1234, 0.1, 0.1468), "0.123 [0.100, 0.147]"),
        ("nll", Interval(0.5, float("nan"), float("nan")), "0.500"),
    ],
)
def test_a_cell_has_its_mean_and_half_width_from_two_seeds_on(metric, interval, text):
    assert (
        Cell(metric=metric, interval=interval, null=None, is_best=False, is_tied=True).text == text
    )


def test_rows_mark_the_best_and_what_is_within_chance_of_it():
    comparison = comparison_of(
        oko=[0.9, 0.91, 0.92], bb=[0.91, 0.9, 0.91], pair=[0.2, 0.21, 0.2], vanilla=[None] * 3
    )
    rows = {row.method: row for row in table_rows(comparison, is_tempered=True)}
    assert list(rows) == ["bb", "pair", "oko"], "a failed method has no row"
    column = COMPARED.index("accuracy")
    marks = {name: row.cells[column].mark for name, row in rows.items()}
    assert marks == {"oko": "*", "bb": "~", "pair": ""}
    assert table_rows(comparison_of(oko=[None]), is_tempered=True) == []


def test_null_levels_and_temperatures_are_averaged_over_seeds(filled):
    _, comparison = filled
    for is_tempered in (False, True):
        for row in table_rows(comparison, is_tempered=is_tempered):
            runs = comparison.by_method[row.method]
            assert row.temperature == pytest.approx(statistics.fmean(r.temperature for r in runs))
            for cell in row.cells:
                nulls = [run.null(cell.metric, is_tempered=is_tempered) for run in runs]
                if cell.metric not in ("ece", "entropy_gap"):
                    assert cell.null is None
                    continue
                expected = [
                    statistics.fmean(null[name] for null in nulls) for name in ("mean", "high")
                ]
                assert cell.null == pytest.approx(expected)
