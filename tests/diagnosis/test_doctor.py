"""The doctor finds the planted problems and no others."""

import math

import numpy as np
import pytest
from PIL import Image
from planted import planted_csv
from scipy.stats import binomtest

from oddkout import Data, doctor
from oddkout.diagnosis import null_ece


def test_it_finds_exactly_what_was_planted(tmp_path):
    planted = planted_csv(tmp_path / "planted.csv")
    clean = planted_csv(tmp_path / "clean.csv", is_planted=False)
    # A test file of its own keeps all copies in the training part.
    test = tmp_path / "test.csv"
    test.write_text("a,b,c,constant,y\n5,5,5,same,common\n6,6,6,same,rare\n")
    findings = {f.code: f for f in doctor(planted, target="y", test=test).findings}
    assert set(findings) == {
        "single-examples",
        "duplicates-train",
        "conflicting-labels",
        "constant-columns",
    }
    assert "classes [single] have a single training example" in findings["single-examples"].text
    assert findings["single-examples"].severity == "warning", "training accepts them"
    assert findings["duplicates-train"].text.startswith("3 of 174 train examples are exact copies")
    assert "1 examples occur with different labels, such as [common, rare]" in (
        findings["conflicting-labels"].text
    )
    assert "columns [constant] are constant" in findings["constant-columns"].text
    assert doctor(clean, target="y").findings == ()


def test_copies_across_the_split_are_found(tmp_path):
    path = planted_csv(tmp_path / "clean.csv", is_planted=False)
    header, *rows = path.read_text().splitlines()
    test = tmp_path / "test.csv"
    test.write_text("\n".join([header, *rows[:2], "7,7,7,0,rare", "8,8,8,0,rare", "9,8,8,1,rare"]))
    diagnosis = doctor(path, target="y", test=test)
    assert [(f.code, f.severity) for f in diagnosis.findings] == [("duplicates-across", "warning")]
    assert diagnosis.findings[0].text.startswith(
        "2 of 5 test examples are also in the training part"
    )
    leaked = doctor(path, target="y", test=path)
    assert not leaked.is_trainable, "a test part that was trained on means nothing"


def arrays(**changes):
    rng = np.random.default_rng(1)
    values = {
        "name": "arrays",
        "x_train": rng.normal(size=(60, 4)),
        "y_train": np.repeat([0, 1, 2], [40, 15, 5]),
        "x_test": rng.normal(size=(30, 4)),
        "y_test": np.repeat([0, 1, 2], [20, 7, 3]),
        "classes": ("a", "b", "c"),
    }
    return Data(**values | changes)


def test_numbers_are_what_they_say():
    diagnosis = doctor(arrays())
    assert diagnosis.train_examples == {"a": 40, "b": 15, "c": 5}
    assert diagnosis.imbalance == 8
    # 60 sets of 3 members: a class is the pair of 20 sets (2 members) and odd in 20 (1 member).
    assert diagnosis.repeats == pytest.approx((20 * 2 + 20 * 1) / 5)
    assert {s.setting: s.value for s in diagnosis.suggestions} == {
        "updates": 600,  # up to 200 examples
        "folds": 5,
    }
    exact = binomtest(27, 30).proportion_ci(method="exact")
    assert diagnosis.accuracy_interval == pytest.approx((exact.low, exact.high))


def test_values_that_are_not_finite_are_fatal():
    x = np.random.default_rng(2).normal(size=(60, 4))
    x[7, 1], x[9, 2] = np.nan, np.inf
    findings = doctor(arrays(x_train=x)).findings
    assert [f.code for f in findings] == ["non-finite"]
    assert "2 training examples hold NaN or infinity, at [7, 9]" in findings[0].text
    findings = doctor(arrays(x_test=x[:30])).findings
    assert [f.severity for f in findings] == ["fatal"]
    assert "2 test examples hold NaN or infinity, at [7, 9]" in findings[0].text


def test_a_class_without_training_examples_is_fatal():
    diagnosis = doctor(arrays(y_train=np.repeat([0, 1], [40, 20])))
    assert [f.code for f in diagnosis.findings] == ["absent-classes"]


def test_constant_columns_of_arrays_are_numbered():
    x = np.random.default_rng(2).normal(size=(60, 4))
    x[:, 2] = 3.0
    assert "columns [2] are constant" in doctor(arrays(x_train=x)).findings[0].text
    assert not doctor(arrays(x_train=np.ones((60, 4)) * x[:, :1] * 0)).is_trainable


def test_the_null_level_falls_as_it_should():
    """E|gap| of a bin of n / 15 examples is about sqrt(2 / pi) sd, and sd falls with sqrt(n)."""
    levels = {n: null_ece(n, classes=10) for n in (50, 100, 500, 1000)}
    assert levels[100] == pytest.approx(0.12, abs=0.02)
    assert levels[1000] == pytest.approx(0.037, abs=0.005)
    confidence = np.linspace(0.1, 1, 10_001)
    gaps = math.sqrt(2 / math.pi) * np.sqrt((confidence * (1 - confidence)).mean() * 15 / 0.9 / 15)
    assert null_ece(20_000, classes=10, draws=50) == pytest.approx(
        gaps * math.sqrt(14 / 20_000), rel=0.1
    )


def test_images_that_are_files_are_looked_over_too(tmp_path, monkeypatch):
    monkeypatch.setattr("oddkout.data.images._MANY_FILES", 3)
    for c, name in enumerate(("cat", "dog")):
        (tmp_path / name).mkdir()
        for i in range(10):
            Image.new("L", (5, 5), color=50 * c + i % 9).save(tmp_path / name / f"{i}.png")
    diagnosis = doctor(tmp_path, test_size=0.3)
    codes = {finding.code for finding in diagnosis.findings}
    assert codes <= {"duplicates-train", "duplicates-test", "duplicates-across"}
    assert codes, "two images of each class are the same"
