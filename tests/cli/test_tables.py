"""Tables as people have them: what the commands print of each."""

import json

import numpy as np
import pandas as pd
import pytest

from oddkout.cli import main

ROWS = 90


def clinic(rows=ROWS, *, seed=0, share=0.5):
    """A sound table: what it says of the class is in ``dose``."""
    rng = np.random.default_rng(seed)
    ill = rng.permutation(np.arange(rows) < share * rows)
    return pd.DataFrame(
        {
            "dose": (rng.normal(size=rows) + ill).round(3),
            "weight": rng.normal(70, 9, rows).round(2),
            "ward": rng.choice(["Süd", "Nord"], rows),
            "diagnosis": np.where(ill, "sepsis", "healthy"),
        }
    )


def as_text(path, frame, separator=";", **options):
    frame.to_csv(path, index=False, sep=separator, **options)
    return path


def examined(capsys, path, *options, code=0):
    assert main(["doctor", str(path), "--target", "diagnosis", *options]) == code
    captured = capsys.readouterr()
    return captured.err if code == 2 else captured.out


FORMS = {
    "semicolons": ("a.csv", lambda path, frame: as_text(path, frame)),
    "tabs": ("a.csv", lambda path, frame: as_text(path, frame, "\t")),
    "tsv": ("a.tsv", lambda path, frame: as_text(path, frame, "\t")),
    "cp1252": ("a.csv", lambda path, frame: as_text(path, frame, ",", encoding="cp1252")),
    "decimal commas": ("a.csv", lambda path, frame: as_text(path, frame, decimal=",")),
    "mark": ("a.csv", lambda path, frame: as_text(path, frame, ",", encoding="utf-8-sig")),
    "xlsx": ("a.xlsx", lambda path, frame: frame.to_excel(path, index=False)),
    "parquet": ("a.parquet", lambda path, frame: frame.to_parquet(path)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_file_is_read_alike(tmp_path, capsys, form):
    name, write = FORMS[form]
    write(tmp_path / name, clinic())
    text = examined(capsys, tmp_path / name)
    assert "a: 72 training and 18 test examples, 2 classes" in text
    assert "no problems found" in text
    assert ("was read as cp1252" in text) == (form == "cp1252")
    assert ("numbers were read with decimal commas" in text) == (form == "decimal commas")


COLUMNS = {
    "id": (
        np.arange(ROWS) + 5000,
        "note     column 'id' is left out, because 72 different integers",
    ),
    "note": (
        [f"seen on ward {i} and felt well" for i in range(ROWS)],
        "note     column 'note' is left out, because it holds free text; pass --text note to use",
    ),
    "name": (
        [f"Smith{i}" for i in range(ROWS)],
        "note     column 'name' is left out, because 72 different texts in 72 rows look like",
    ),
    "seen": (pd.date_range("2024-01-01", periods=ROWS).strftime("%d.%m.%Y"), "no problems found"),
    "smoker": (np.arange(ROWS) % 3 == 0, "no problems found"),
    "sex": (
        ["f", "m", "F", "f", "m", "f"] * 15,
        "warning  categories of column 'sex' look alike: ['F' and 'f']; correct the table",
    ),
    "city": (
        ["Rome", "Rome ", "Oslo"] * 30,
        "warning  categories of column 'city' look alike: ['Rome ' and 'Rome']; correct the table",
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_odd_about_a_column_is_said(tmp_path, capsys, name):
    values, line = COLUMNS[name]
    text = examined(capsys, as_text(tmp_path / "a.csv", clinic().assign(**{name: values})))
    assert line in text


def test_a_typo_in_a_label_is_named(tmp_path, capsys):
    frame = clinic()
    frame.loc[frame.index[frame["diagnosis"] == "sepsis"][0], "diagnosis"] = "spesis"
    text = examined(capsys, as_text(tmp_path / "a.csv", frame))
    assert "warning  classes 'spesis' (1 row) and 'sepsis' (44 rows) look alike; correct" in text


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--target", "diagnose"], "no column 'diagnose'; did you mean 'diagnosis'?"),
        (["--group", "Wards"], "no column 'Wards'; did you mean 'ward'?"),
        (["--group", "diagnosis"], "must be another column than the target, got 'diagnosis'"),
        (["--text", "wrad"], "text (--text) must name a column of the table"),
        (["--categorical", "doses"], "no column 'doses'; did you mean 'dose'?"),
        (["--numeric", "wieght"], "no column 'wieght'; did you mean 'weight'?"),
    ],
)
def test_a_misspelt_column_ends_with_one_line(tmp_path, capsys, options, line):
    text = examined(capsys, as_text(tmp_path / "a.csv", clinic()), *options, code=2)
    assert line in text
    assert text.count("\n") == 1


def test_a_column_that_occurs_twice_ends_with_one_line(tmp_path, capsys):
    frame = clinic()
    path = as_text(tmp_path / "a.csv", frame.assign(copy=frame["diagnosis"]))
    path.write_text(path.read_text().replace("copy", "diagnosis", 1))
    text = examined(capsys, path, code=2)
    assert "must name every column once, but [diagnosis] occur more than once; rename" in text


def test_patients_with_six_visits_are_named(tmp_path, capsys):
    """120 patients, each with a pattern of its own, that tells nothing of another patient."""
    rng = np.random.default_rng(1)
    patient = np.repeat(np.arange(120), 6)
    pattern = rng.normal(size=(120, 6))[patient] + 0.05 * rng.normal(size=(720, 6))
    frame = pd.DataFrame(pattern).add_prefix("m").assign(patient=patient)
    frame["diagnosis"] = rng.permutation(np.arange(120) % 2)[patient]
    text = examined(capsys, as_text(tmp_path / "visits.csv", frame))
    assert "warning  rows with the same 'patient' seem to belong together: a forest reach" in text
    assert "pass --group patient, or scores will be too good" in text
    text = examined(capsys, tmp_path / "visits.csv", "--group", "patient", "--json")
    report = json.loads(text)
    [check] = report["groups"]
    assert (check["column"], check["groups"]) == ("patient", 120)
    assert check["grouped"][1] < 0.5 < check["grouped"][2]
    assert report["findings"] == []


def test_a_balanced_test_part_of_heavy_tailed_data_asks_for_another_prior(tmp_path, capsys):
    train = as_text(tmp_path / "train.csv", clinic(200, share=0.1))
    test = as_text(tmp_path / "test.csv", clinic(100, seed=1))
    text = examined(capsys, train, "--test", str(test))
    assert "warning  class frequencies of the test part differ significantly" in text
    assert "pass --prior uniform for equally frequent classes" in text


def test_one_in_a_hundred_is_shown_by_doctor_and_trained_on(tmp_path, capsys):
    path = as_text(tmp_path / "a.csv", clinic(1010, share=0.0099))
    text = examined(capsys, path)
    assert "imbalance          100.0 : 1, largest class to smallest" in text
    assert "  healthy      800      200\n  sepsis         8        2\n" in text
    train = ["train", str(path), "--target", "diagnosis", "--out", str(tmp_path / "model")]
    assert main([*train, "--learning-rates", "0.1", "--folds", "2", "--updates", "30"]) == 0
    assert "probabilities are for the class frequencies of the training data" in (
        capsys.readouterr().out
    )


def test_an_ugly_table_is_trained_on_and_predicted_for(tmp_path, capsys):
    """Semicolons, cp1252, decimal commas, a mark of nothing, and every kind of column at once."""
    frame = clinic()
    for name, (values, _) in COLUMNS.items():
        frame[name] = values
    frame.loc[5, "weight"] = np.nan
    options = {"encoding": "cp1252", "decimal": ","}
    path = as_text(tmp_path / "ugly.csv", frame, **options)
    train = ["train", str(path), "--target", "diagnosis", "--out", str(tmp_path / "model")]
    quick = ["--learning-rates", "0.1", "--folds", "2", "--updates", "30"]
    assert main([*train, *quick, "--text", "note"]) == 0
    text = capsys.readouterr().out
    for name in ("id", "name"):
        assert f"column {name!r} is left out" in text
    assert "columns [sex, city] hold categories that look alike" in text
    card = json.loads((tmp_path / "model" / "card.json").read_text())
    assert card["encoder"]["dates"] == {"seen": "day first"}
    assert card["encoder"]["words"] == ["note"]
    new = frame.drop(columns=["id", "name", "diagnosis"])
    new_path = as_text(tmp_path / "new.csv", new, ",", encoding="utf-8")
    assert main(["predict", str(tmp_path / "model"), str(new_path)]) == 0
    assert capsys.readouterr().out.count("\n") == 1 + ROWS
