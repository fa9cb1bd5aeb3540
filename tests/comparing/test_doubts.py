"""Doubts about the data are part of the verdict: rows that belong together, a shifted test part."""

import numpy as np
import pandas as pd
import pytest
from rivals import QUICK

import oddkout as oko

pytestmark = pytest.mark.usefixtures("without_shape_checks")


def visits(rng, *, patients=120):
    """Six visits of each patient, whose features identify the patient; the label is chance."""
    patient = np.repeat(np.arange(patients), 6)
    y = rng.permutation(np.repeat(["ill", "well"], patients // 2))[patient]
    x = rng.normal(size=(patients, 8))[patient] + 0.1 * rng.normal(size=(6 * patients, 8))
    return pd.DataFrame(x, columns=list("abcdefgh")).assign(patient=patient, diagnosis=y)


def test_the_verdict_warns_of_patients_on_both_sides_and_not_if_they_are_groups(tmp_path):
    table = visits(np.random.default_rng(0))
    options = {"target": "diagnosis", "methods": ["vanilla"], "seeds": 1} | QUICK
    ignored = oko.compare(table, out=tmp_path / "rows", **options)
    assert "Warning: rows with the same 'patient' seem to belong together" in ignored.verdict
    assert "pass --group patient" in ignored.verdict
    kept = oko.compare(table, group="patient", out=tmp_path / "patients", **options)
    assert kept.warnings == []


def shifted(rng, prior, count):
    """Rows of three classes with these frequencies."""
    y = rng.choice(3, size=count, p=prior)
    return rng.normal(size=(count, 3)) + 2 * np.eye(3)[y], y


def test_a_balanced_test_part_of_heavy_tailed_data_is_pointed_out(tmp_path):
    """The training part is heavy-tailed, the test part balanced."""
    rng = np.random.default_rng(0)
    train, test = shifted(rng, [0.86, 0.1, 0.04], 200), shifted(rng, [1 / 3] * 3, 150)
    options = {"test": test, "methods": ["vanilla", "oko"], "seeds": 2} | QUICK
    misjudged = oko.compare(train, out=tmp_path / "train", **options)
    assert "class frequencies of the test part differ significantly" in misjudged.verdict
    assert "pass --prior uniform for equally frequent classes" in misjudged.verdict

    judged = oko.compare(train, prior="uniform", out=tmp_path / "uniform", **options)
    assert judged.warnings == []
    assert {tuple(run.prior) for run in judged.runs} == {(1 / 3, 1 / 3, 1 / 3)}
    for method in judged.methods:
        if method != "guess":
            before, after = (c.mean(method, "nll", is_tempered=True).mean
                             for c in (misjudged, judged))  # fmt: skip
            assert after < before, method
