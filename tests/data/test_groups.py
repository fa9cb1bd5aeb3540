"""Groups, such as patients: splits, folds and comparisons keep each of them together."""

import numpy as np
import pandas as pd
import pytest
import torch
from grids import here
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import oddkout as oko
from oddkout.comparing.statistics import crossed_estimate
from oddkout.data.splits import grouped_parts
from oddkout.fitting.folds import UNSCORED, assigned_folds


def visits(*, patients=120, each=6, seed=0):
    """Patients with a pattern of their own; diagnoses are independent of everything else."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(patients), each)
    y = rng.permutation(np.arange(patients) % 2)[patient]
    x = rng.normal(size=(patients, 6))[patient] + 0.05 * rng.normal(size=(len(patient), 6))
    return x, y, patient


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 1000), st.integers(5, 60), st.integers(2, 6))
def test_parts_hold_whole_groups_and_their_share_of_each_class(seed, groups, parts):
    rng = np.random.default_rng(seed)
    group = rng.integers(groups, size=40 * parts)
    y = rng.integers(2, size=len(group))
    part = grouped_parts(y, group, shares=[1 / parts] * parts, seed=seed)
    for one in np.unique(group):
        assert len(np.unique(part[group == one])) == 1
    if groups >= 10 * parts:
        for label in range(2):
            shares = np.bincount(part[y == label], minlength=parts) / (y == label).sum()
            assert np.abs(shares - 1 / parts).max() < 0.2


def test_a_table_is_split_by_its_group_column_which_is_no_feature():
    x, y, patient = visits(patients=30)
    frame = pd.DataFrame(x).add_prefix("m").assign(patient=patient, diagnosis=y)
    data = oko.load_data(frame, target="diagnosis", group="patient", seed=3)
    assert "patient" not in data.encoder.columns
    assert not set(data.train_groups) & set(data.test_groups)
    assert 0.1 < len(data.y_test) / len(y) < 0.3
    assert data.notes[0] == "30 groups: splits and folds keep each of them together"
    arrays = oko.load_data((x, y), groups=patient, seed=3)
    assert sorted(arrays.test_groups) == sorted(data.test_groups)


def test_a_class_of_one_group_is_trained_on():
    y = np.array([0] * 20 + [1] * 20 + [2] * 5)
    groups = np.array([*np.arange(20), *np.arange(20, 40), *([40] * 5)])
    for seed in range(10):
        data = oko.load_data((np.zeros((45, 2)), y), groups=groups, seed=seed)
        assert set(data.y_train) == {0, 1, 2}
        assert 2 not in data.y_test


@pytest.mark.parametrize("folds", [1, 3, 5])
def test_folds_hold_whole_groups_and_every_class_stays_in_training(folds):
    _, y, patient = visits(patients=40)
    y = y.copy()
    y[patient == 7] = 2  # a class of one patient
    labels, groups = torch.from_numpy(y), torch.from_numpy(patient)
    fold_of = assigned_folds(labels, folds=folds, seed=0, groups=groups)
    assert int(fold_of.max()) == folds - 1
    for one in groups.unique():
        assert len(fold_of[groups == one].unique()) == 1
    assert (fold_of[labels == 2] == UNSCORED).all()
    for fold in range(folds):
        assert set(labels[fold_of != fold].tolist()) == {0, 1, 2}
        assert (fold_of == fold).any()
    assert assigned_folds(labels[:6], folds=5, seed=0, groups=groups[:6]) is None


@pytest.mark.filterwarnings("ignore")
def test_patients_with_a_pattern_of_their_own_do_not_leak(tmp_path):
    """Without groups, visits of one patient are on both sides, and accuracy is near 1."""
    x, y, patient = visits()
    options = {
        "methods": ["vanilla"], "seeds": 2, "learning_rates": [0.1], "folds": 3,
        "recipe": {"updates": 20}, "executor": here,
        "contestants": {"trees": RandomForestClassifier(40)},
    }  # fmt: skip
    leaking = oko.compare((x, y), out=tmp_path / "a", **options)
    honest = oko.compare((x, y), groups=patient, out=tmp_path / "b", **options)
    assert leaking.mean("trees", "accuracy", is_tempered=True).mean > 0.95
    for name in ("logistic", "vanilla", "trees"):
        interval = honest.mean(name, "accuracy", is_tempered=True)
        assert interval.mean < 0.75
        assert interval.high - interval.low > 0.15, "24 patients, not 144 visits"
    assert honest.verdict.startswith("Nothing beats guessing")
    frame = pd.DataFrame(x).add_prefix("m").assign(patient=patient, diagnosis=y)
    frame.to_csv(tmp_path / "visits.csv", index=False)
    again = oko.compare(
        tmp_path / "visits.csv", target="diagnosis", group="patient", out=tmp_path / "c", **options
    )
    assert again.setting.group == "patient"
    assert again.verdict.startswith("Nothing beats guessing")


def test_intervals_by_group_cover_the_truth():
    """120 patients with 6 visits; the truth is 0.5. At least 93 of 100 simulations cover it."""
    covered = 0
    for simulation in range(100):
        x, y, patient = visits(seed=simulation)
        hits, units = [], []
        for seed in range(3):
            is_test = grouped_parts(y, patient, shares=(0.8, 0.2), seed=seed) == 1
            model = LogisticRegression().fit(x[~is_test], y[~is_test])
            hits.append((model.predict(x[is_test]) == y[is_test]).astype(float))
            units.append(patient[is_test])
        limits = crossed_estimate(hits, units, overlap=0.25).interval(lowest=0, highest=1)
        covered += limits.low <= 0.5 <= limits.high
    assert covered >= 93


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"group": "patent"}, "no column 'patent'; did you mean 'patient'"),
        ({"groups": [1, 2]}, "the group of each of the 60 examples, got 2"),
    ],
)
def test_wrong_groups_are_refused(options, text):
    x, y, patient = visits(patients=10)
    frame = pd.DataFrame(x).add_prefix("m").assign(patient=patient, diagnosis=y)
    with pytest.raises(ValueError, match=text):
        oko.load_data(frame, target="diagnosis", **options)
    frame["patient"] = frame["patient"].astype(float).where(frame.index != 3)
    with pytest.raises(ValueError, match=r"every example must have a group, but examples \[3\]"):
        oko.load_data(frame, target="diagnosis", group="patient")
    with pytest.raises(ValueError, match="a split by groups needs at least 2 groups, got 1"):
        oko.load_data((x, y), groups=np.zeros(60, dtype=int))
    with pytest.raises(ValueError, match="for arrays, pass groups="):
        oko.load_data((x, y), group="patient")


def test_useless_groups_are_refused_in_a_sentence():
    x, y, patient = visits(patients=10)
    frame = pd.DataFrame(x).add_prefix("m").assign(patient=patient, diagnosis=y)
    with pytest.raises(ValueError, match="must be another column than the target, got 'diagnosis'"):
        oko.load_data(frame, target="diagnosis", group="diagnosis")
    copied = frame.assign(patient=np.where(y == 1, "ill", "well"))
    with pytest.raises(
        ValueError, match="finer than the classes, but each of the 2 classes is one"
    ):
        oko.load_data(copied, target="diagnosis", group="patient")
    with pytest.raises(ValueError, match="a split by groups needs at least 2 groups, got 1"):
        oko.load_data(frame.assign(patient="same"), target="diagnosis", group="patient")
    with pytest.raises(ValueError, match="besides 'diagnosis' and 'patient', got no other column"):
        oko.load_data(frame[["patient", "diagnosis"]], target="diagnosis", group="patient")
