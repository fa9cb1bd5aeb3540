"""``oddkout predict``: from files to probabilities."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from oddkout import fit, load_data
from oddkout.cli import main

QUICK = {"learning_rates": [0.1], "folds": 2}


@pytest.fixture(scope="module")
def fitted():
    return fit("digits", recipe={"updates": 60}, **QUICK)


@pytest.fixture
def saved(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    return fitted, tmp_path / "model"


def rows(text):
    return list(csv.reader(io.StringIO(text)))


def test_a_table_goes_from_file_to_probabilities(tmp_path, capsys):
    rng = np.random.default_rng(0)
    kind = np.array(["sick", "well"])[(rng.random(300) < 0.8).astype(int)]
    frame = pd.DataFrame(
        {
            "dose": rng.normal(size=300) + 2 * (kind == "sick"),
            "ward": rng.choice(["north", "south"], 300),
            "kind": kind,
        }
    )
    frame.to_csv(tmp_path / "patients.csv", index=False)
    model = str(tmp_path / "model")
    command = ["train", str(tmp_path / "patients.csv"), "--target", "kind", "--out", model]
    assert main([*command, "--updates", "100", "--folds", "2"]) == 0
    text = capsys.readouterr().out
    assert "accuracy" in text
    assert f"wrote {model}" in text
    frame.drop(columns="kind")[::-1].to_csv(tmp_path / "new.csv", index=False)
    assert main(["predict", model, str(tmp_path / "new.csv")]) == 0
    plain = rows(capsys.readouterr().out)
    assert plain[0] == ["sick", "well"]
    assert len(plain) == 301
    assert main(["predict", model, str(tmp_path / "new.csv"), "--prior", "0.01,0.99"]) == 0
    printed = capsys.readouterr()
    assert printed.err == "probabilities are for the class frequencies sick 0.01, well 0.99\n"
    corrected = rows(printed.out)
    assert all(float(a[0]) > float(b[0]) for a, b in zip(plain[1:], corrected[1:], strict=True))
    assert main(["predict", model, str(tmp_path / "new.csv"), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert np.shape(record["probabilities"]) == (300, 2)
    assert record["prior"] == pytest.approx(
        [(kind == name).mean() for name in ("sick", "well")], abs=0.01
    )


def test_images_go_from_folder_to_probabilities(tmp_path, capsys):
    rng = np.random.default_rng(0)
    for c, name in enumerate(("dark", "light")):
        (tmp_path / "images" / name).mkdir(parents=True)
        for i in range(12):
            pixels = rng.integers(0, 100, (20, 20), dtype=np.uint8) + 120 * c
            Image.fromarray(pixels).save(tmp_path / "images" / name / f"{i}.png")
    model = str(tmp_path / "model")
    command = ["train", str(tmp_path / "images"), "--image-size", "16", "--out", model, "--json"]
    assert main([*command, "--updates", "40", "--folds", "2"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == model
    assert main(["predict", model, str(tmp_path / "images" / "light")]) == 0
    probs = rows(capsys.readouterr().out)
    assert probs[0] == ["dark", "light"]
    assert all(float(row[1]) > 0.5 for row in probs[1:])


def test_a_known_name_stands_for_its_test_part(saved, capsys):
    classifier, folder = saved
    assert main(["predict", str(folder), "digits"]) == 0
    probs = np.array(rows(capsys.readouterr().out)[1:], float)
    expected = classifier.predict_proba(load_data("digits").x_test)
    np.testing.assert_allclose(probs, expected, rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["train", "digits", "--method", "okko", "--out", "m"], "method must be one of 'vanilla'"),
        (["train", "digits"], "Missing option '--out'"),
        (["predict", "nowhere", "x.csv"], "there is no classifier in nowhere"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, text, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("source", "prior", "text"),
    [
        ("gone.npz", None, "there is no file or folder"),
        ("x.npz", "a,b", "--prior must be train, uniform, or numbers"),
        ("x.npz", "0.5,0.5", "one frequency|same classes"),
    ],
)
def test_predictions_that_cannot_be_made_are_refused(saved, tmp_path, capsys, source, prior, text):
    _, folder = saved
    np.savez(tmp_path / "x.npz", x=np.zeros((2, 8, 8), np.uint8))
    options = [] if prior is None else ["--prior", prior]
    assert main(["predict", str(folder), str(tmp_path / source), *options]) == 2
    error = capsys.readouterr().err
    assert any(part in error for part in text.split("|"))
