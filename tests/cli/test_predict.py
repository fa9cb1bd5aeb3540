"""``oddkout predict``: from files to probabilities."""

import contextlib
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


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """A classifier of patients with a rare class, its test file and what training printed."""
    folder = tmp_path_factory.mktemp("clinic")
    rng = np.random.default_rng(0)
    kind = np.where(rng.random(400) < 0.1, "sick", "well")
    frame = pd.DataFrame(
        {
            "id": [f"{row:04d}" for row in rng.permutation(400)],
            "patient": [f"p{row // 4}" for row in range(400)],
            "dose": rng.normal(size=400) + 2 * (kind == "sick"),
            "kind": kind,
        }
    )
    frame[:280].drop(columns="id").to_csv(folder / "train.csv", index=False)
    frame[280:].to_csv(folder / "test.csv", index=False)
    options = ["--target", "kind", "--group", "patient", "--test", str(folder / "test.csv")]
    options += ["--updates", "60", "--folds", "2", "--out", str(folder / "model")]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["train", str(folder / "train.csv"), *options]) == 0
    return folder, frame[280:], printed.getvalue()


def predicted(folder, capsys, *options):
    assert main(["predict", str(folder / "model"), str(folder / "test.csv"), *options]) == 0
    (folder / "p.csv").write_text(capsys.readouterr().out)
    return rows((folder / "p.csv").read_text())


def test_kept_predictions_are_evaluated_like_the_card(clinic, capsys):
    """Train, predict with --keep and evaluate: accuracy and NLL are those of the card."""
    folder, frame, _ = clinic
    test = json.loads((folder / "model" / "card.json").read_text())["details"]["test"]
    with_label = predicted(folder, capsys, "--keep", "id,patient,kind")
    assert with_label[0] == ["id", "patient", "kind", "predicted", "sick", "well"]
    assert [row[0] for row in with_label[1:]] == frame["id"].tolist(), "zeros in front are kept"
    for row in with_label[1:]:
        assert row[3] == ("sick" if float(row[4]) >= float(row[5]) else "well")
    path, labels = str(folder / "p.csv"), str(folder / "test.csv")
    second = ["--labels", labels, "--id", "id"]
    for keep, options in (("id,patient,kind", []), ("id,patient", second), ("id", second)):
        predicted(folder, capsys, "--keep", keep)
        command = ["evaluate", path, "--target", "kind", "--group", "patient", "--bins", "10"]
        assert main([*command, *options, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["metrics"]["accuracy"] == test["metrics"]["accuracy"]
        for metric in ("nll", "brier", "ece", "auroc", "mcc"):
            for part in ("value", "low", "high"):
                assert found["metrics"][metric][part] == pytest.approx(
                    test["metrics"][metric][part], rel=1e-4
                )
        assert found["confusion"] == test["confusion"]
        assert found["group_count"] == test["group_count"] == frame["patient"].nunique()
        assert [one["name"] for one in found["classes"]] == ["sick", "well"]


def test_the_rare_class_and_the_groups_are_printed_after_training(clinic):
    folder, frame, printed = clinic
    card = json.loads((folder / "model" / "card.json").read_text())["details"]
    assert card["data"]["groups"] == {"training": 70, "test": 30}
    assert printed.startswith("120 examples in 30 groups, 2 classes\nintervals and null levels")
    assert "balanced accuracy" in printed
    assert "skill against guessing" in printed
    sick = card["test"]["classes"][0]
    cell = "{value:.3f} [{low:.3f}, {high:.3f}]".format(**sick["recall"])
    [row] = [line for line in printed.splitlines() if line.startswith("sick ") and "[" in line]
    assert cell in row
    assert sick["examples"] == (frame["kind"] == "sick").sum()
    assert "true class  sick  well" in printed
    assert "guessing the class frequencies of the training data scores NLL" in printed


def test_json_holds_what_is_kept(clinic, capsys):
    folder, frame, _ = clinic
    model, data = str(folder / "model"), str(folder / "test.csv")
    assert main(["predict", model, data, "--keep", "id", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["kept"] == {"id": frame["id"].tolist()}
    best = np.argmax(record["probabilities"], axis=1)
    assert record["predicted"] == [record["classes"][column] for column in best]


@pytest.mark.parametrize(
    ("keep", "text"),
    [
        ("idd", "must hold the column 'idd', but it does not; did you mean 'id'?"),
        ("sick", "must not be called like another column of the output, got [sick]"),
    ],
)
def test_columns_that_cannot_be_kept_are_refused(clinic, capsys, keep, text):
    folder, frame, _ = clinic
    frame.assign(sick=1).to_csv(folder / "more.csv", index=False)
    command = ["predict", str(folder / "model"), str(folder / "more.csv"), "--keep", keep]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1


def test_only_tables_have_columns_to_keep(saved, capsys):
    _, folder = saved
    assert main(["predict", str(folder), "digits", "--keep", "id"]) == 2
    assert "--keep names columns of a table" in capsys.readouterr().err


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
