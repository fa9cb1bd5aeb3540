"""Decisions of all seeds, counted in loops."""

import json

import numpy as np
import pytest
from synthetic import CLASSES, fill

from oddkout.comparing.deciding import (
    answered_errors,
    class_sets,
    decision_record,
    mean_confusion,
)
from oddkout.comparing.tables import comparison_json, comparison_text


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    return fill(tmp_path_factory.mktemp("runs"), methods=["vanilla", "oko"], skill=4.0)[1]


def test_sets_of_each_class_are_counted_over_seeds(comparison):
    runs = comparison.by_method["oko"]
    for number, row in enumerate(class_sets(runs)):
        rows = [run.sets[run.labels == number] for run in runs]
        assert row["class"] == CLASSES[number]
        assert row["examples"] == 20
        hits = [sets[i, number] for sets in rows for i in range(len(sets))]
        assert row["coverage"] == pytest.approx(np.mean(hits))
        assert row["size"] == pytest.approx(np.mean([sum(s) for sets in rows for s in sets]))
        assert row["always"] == (3 if number == 0 else 0), "the first class has 3 examples"


def test_means_errors_and_confusion_agree_with_loops(comparison):
    runs = comparison.by_method["oko"]
    covered = [run.sets[np.arange(80), run.labels].mean() for run in runs]
    interval = comparison.mean("oko", "set_coverage", is_tempered=True)
    assert interval.mean == pytest.approx(np.mean(covered))
    assert interval.low < interval.mean < interval.high <= 1
    errors = answered_errors(runs)
    for column, error in enumerate(errors):
        wrong = [
            row.argmax() != label
            for run in runs
            for row, label, is_answered in zip(
                run.calibrated_logits, run.labels, run.answered[:, column], strict=True
            )
            if is_answered
        ]
        assert error == (pytest.approx(np.mean(wrong)) if wrong else None)
    assert errors[-1] is not None
    assert mean_confusion(runs).sum(axis=1).tolist() == pytest.approx([20] * 4)


def test_tables_and_json_hold_decisions(comparison):
    text = comparison_text(comparison)
    assert "decisions on test cases, by out-of-fold predictions" in text
    assert "answered %, 5 % risk" in text
    record = json.loads(json.dumps(comparison_json(comparison), allow_nan=False))
    for row in record["methods"]:
        expected = json.loads(json.dumps(decision_record(comparison, row["method"])))
        assert row["decisions"] == expected
        assert row["decisions"]["promises"]["sets"]["always"] == ["ant"]


def test_coverage_is_neither_better_nor_worse(comparison):
    line = comparison_text(comparison).split("decisions on test cases")[1].splitlines()[2]
    assert "*" not in line.split("]")[0]
    assert "~" not in line.split("]")[0]
