"""The paper's numbers as data agree with its text and with each other."""

import math

import pytest

from oddkout.paper.published import (
    ACCURACY,
    COLUMNS,
    ENTROPY_GAP,
    ODD_CLASSES,
    TABLES,
    TARGETS,
)


def test_the_published_tables_agree_with_the_text_and_with_each_other():
    assert len(COLUMNS) == 8
    assert all(len(values) == 8 for table in TABLES for values in table.rows.values())
    # "OKO achieves the strongest average generalization performance across all": bold in Table 1.
    for column in COLUMNS:
        best = max(ACCURACY.rows, key=lambda name: ACCURACY.value(name, *column))
        assert best == "oko"
    # OKO is the same row in all tables of the gap, and so are k = 2 and 3.
    assert ENTROPY_GAP.rows["oko"] == ODD_CLASSES.rows["oko"] == TARGETS.rows["oko"]
    assert ODD_CLASSES.rows["oko-k3"] == TARGETS.rows["oko-k3"]
    # What is printed bold in Table 2 is the lowest but for CIFAR-100, uniform.
    bold = ["focal", "oko", "oko", "bb+ls", "oko", "focal", "oko", "weighted"]
    lowest = [
        min(ENTROPY_GAP.rows, key=lambda name: ENTROPY_GAP.value(name, *column))
        for column in COLUMNS
    ]
    assert [a == b for a, b in zip(bold, lowest, strict=True)] == [True] * 6 + [False, True]
    # Bold in the ablations.
    bold = ["oko", "oko", "oko", "oko-k3", "oko", "oko-k3", "oko", "oko-k3"]
    lowest = [
        min(ODD_CLASSES.rows, key=lambda name: ODD_CLASSES.value(name, *column))
        for column in COLUMNS
    ]
    assert lowest == bold


@pytest.mark.parametrize(
    ("table", "sums"),
    [
        # Sums over the rows of each column, added up from the paper's source.
        (ACCURACY, (6.4509, 5.6009, 5.6552, 4.9232, 3.8949, 2.5941, 2.2806, 0.5824)),
        (ENTROPY_GAP, (1.664, 3.139, 2.085, 3.983, 1.768, 6.072, 3.744, 13.863)),
        (ODD_CLASSES, (0.673, 0.715, 0.699, 1.244, 1.501, 2.215, 3.611, 6.712)),
        (TARGETS, (3.092, 2.540, 2.725, 2.534, 1.956, 1.604, 3.044, 3.443)),
    ],
)
def test_the_columns_of_the_published_tables_add_up(table, sums):
    for column, expected in enumerate(sums):
        total = math.fsum(values[column] for values in table.rows.values())
        assert total == pytest.approx(expected, abs=1e-9), COLUMNS[column]
