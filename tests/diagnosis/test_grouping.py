"""Columns of what rows have in common are found by how much the accuracy falls."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from oddkout import doctor
from oddkout.data import load_data
from oddkout.diagnosis.doctor import doubts
from oddkout.diagnosis.grouping import checked_groups, group_candidates


def visits(*, patients=120, each=6, seed=0):
    """Patients with a pattern of their own; diagnoses are independent of everything else."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(patients), each)
    y = rng.permutation(np.arange(patients) % 2)[patient]
    x = rng.normal(size=(patients, 6))[patient] + 0.05 * rng.normal(size=(len(patient), 6))
    return pd.DataFrame(x).add_prefix("m").assign(age=rng.integers(20, 80, len(y))), y, patient


@pytest.mark.parametrize("form", ["text", "neutral name"])
def test_the_patients_behind_the_visits_are_named(form):
    x, y, patient = visits(patients=60)
    values = [f"P-{one:04}" for one in patient] if form == "text" else patient
    name = "code" if form == "neutral name" else "patient"
    frame = x.assign(**{name: values}, diagnosis=y)
    diagnosis = doctor(frame, target="diagnosis")
    [finding] = [f for f in diagnosis.findings if f.code == "leaking-groups"]
    assert f"pass --group {name}, or scores will be too good" in finding.text
    check = next(check for check in diagnosis.groups if check.column == name)
    assert check.random[0] > 0.97
    assert check.grouped[1] < 0.5 < check.grouped[2], "the truth"
    assert check.random[2] - check.random[1] > 0.01, "an interval is never a point"
    assert [check.column for check in diagnosis.groups if check.is_leaking] == [name]


def test_the_given_group_is_shown_and_not_warned_of():
    x, y, patient = visits(patients=60)
    frame = x.drop(columns="age").assign(patient=patient, diagnosis=y)
    diagnosis = doctor(frame, target="diagnosis", group="patient")
    assert [check.column for check in diagnosis.groups] == ["patient"]
    assert diagnosis.findings == ()
    [check] = diagnosis.groups
    assert f"  patient (60 values): {check.random[0]:.2f} [" in str(diagnosis)


def test_candidates_repeat_and_those_named_like_a_group_come_first():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, 300),
            "weight": rng.normal(size=300),
            "sex": rng.choice(["f", "m"], 300),
            "row": np.arange(300),
            "seen": pd.date_range("2024-01-01", periods=300),
            "hospital": rng.choice([f"h{i}" for i in range(12)], 300),
            "siblings": np.repeat(np.arange(150), 2),
        }
    )
    assert group_candidates(frame) == ["hospital", "siblings", "age"]


def test_measurements_of_a_real_table_are_no_groups():
    """Their integers and tenths repeat, and stand for nothing but themselves."""
    x, y = load_iris(return_X_y=True, as_frame=True)
    frame = (x * 10).round().astype(int)
    checks = list(checked_groups(frame, y.to_numpy(), group_candidates(frame)[:2]))
    assert checks
    assert [check.column for check in checks if check.is_leaking] == []


def test_chance_is_seldom_taken_for_a_group():
    """More of them: benchmarks/doctor_groups.py."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        x = pd.DataFrame(rng.normal(size=(150, 3))).add_prefix("m")
        y = (x["m0"] + rng.normal(size=150) > 0).to_numpy().astype(int)
        frame = x.assign(code=rng.integers(0, 40, 150))
        [check] = checked_groups(frame, y, ["code"])
        assert not check.is_leaking


def test_cells_that_mix_numbers_and_words_do_not_stop_the_check():
    x, y, patient = visits(patients=30)
    frame = x.assign(patient=patient, mixed=["1", "two", "3"] * 60)
    [check] = checked_groups(frame, y, ["patient"], numeric=["patient"])
    assert check.is_leaking


def test_options_that_are_not_given_do_not_matter():
    """The command line passes None for what it was not told."""
    x, y, patient = visits(patients=60)
    frame = x.assign(patient=patient, diagnosis=y)
    given = {"categorical": None, "text": None, "numeric": None, "rare_below": None}
    data = load_data(frame, target="diagnosis")
    [found] = doubts(frame, data, has_prior=False, target="diagnosis", **given)
    assert "pass --group patient" in found
