"""``oddkout evaluate``: every file format, and errors in one line."""

import json

import numpy as np
import pytest

import oddkout as oko
from oddkout.cli import main

NAMES = ["cat", "dog", "cow"]


@pytest.fixture
def predictions():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(60, 3))
    probs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return logits, probs, rng.integers(3, size=60)


def write_csv(path, values, labels, header=("label", *NAMES)):
    lines = [",".join(map(str, (label, *row))) for label, row in zip(labels, values, strict=True)]
    path.write_text("\n".join([",".join(header), *lines]) + "\n")
    return str(path)


def test_the_table_is_that_of_evaluate(predictions, tmp_path, capsys):
    _, probs, labels = predictions
    path = write_csv(tmp_path / "p.csv", probs, [NAMES[label] for label in labels])
    assert main(["evaluate", path]) == 0
    expected = oko.evaluate(probs=probs, labels=labels, classes=NAMES)
    assert capsys.readouterr().out == f"{expected}\n"


@pytest.mark.parametrize("kind", ["csv names", "csv numbers", "npz", "npz names", "csv logits"])
def test_every_form_gives_the_same_json(predictions, tmp_path, capsys, kind):
    logits, probs, labels = predictions
    names = np.array(NAMES)[labels]
    options = []
    if kind == "csv names":
        path = write_csv(tmp_path / "p.csv", probs, names)
    elif kind == "csv numbers":
        path = write_csv(tmp_path / "p.csv", probs, labels)
    elif kind == "csv logits":
        path, options = write_csv(tmp_path / "p.csv", logits, names), ["--logits"]
    else:
        path = str(tmp_path / "p.npz")
        given = names if kind == "npz names" else labels
        np.savez(path, probs=probs, labels=given, classes=NAMES)
    assert main(["evaluate", path, "--json", "--bins", "10", *options]) == 0
    printed = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    expected = oko.evaluate(probs=probs, labels=labels, bins=10, classes=NAMES).to_dict()
    assert printed["metrics"]["ece"]["value"] == pytest.approx(expected["metrics"]["ece"]["value"])
    assert printed["metrics"]["nll"]["high"] == pytest.approx(expected["metrics"]["nll"]["high"])
    assert [result["name"] for result in printed["classes"]] == NAMES
    assert printed["verdict"] == expected["verdict"]


def test_names_that_are_numbers_are_names(tmp_path, capsys):
    """Of the digits 3, 5 and 8, label 3 is the first column."""
    header = ("3", "5", "label", "8")
    lines = ["0.8,0.1,3,0.1", "0.1,0.8,5,0.1"] * 5
    (tmp_path / "p.csv").write_text("\n".join([",".join(header), *lines]))
    assert main(["evaluate", str(tmp_path / "p.csv"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["accuracy"]["value"] == 1.0


def test_figures_are_written_and_named(predictions, tmp_path, capsys):
    _, probs, labels = predictions
    path = write_csv(tmp_path / "p.csv", probs, labels)
    assert main(["evaluate", path, "--out", str(tmp_path / "figures"), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)["figures"]
    assert sorted(written) == sorted(map(str, (tmp_path / "figures").iterdir()))
    assert len(written) == 4


def test_infinite_nll_is_null_in_json(tmp_path, capsys):
    path = write_csv(tmp_path / "p.csv", [[1.0, 0, 0]] * 4, ["cat", "cat", "dog", "cat"])
    assert main(["evaluate", path, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert printed["metrics"]["nll"]["value"] is None


def test_help_has_an_example(capsys):
    assert main(["evaluate", "--help"]) == 0
    assert "oddkout evaluate predictions.csv" in capsys.readouterr().out


ROW = "0.2,0.3,0.5"


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("p.csv", f"cat,dog,cow\n{ROW}\n", "one column 'label'"),
        ("p.csv", "", "one column 'label'"),
        ("p.csv", "label,cat,dog,cow\n", "a line per example, got none"),
        (
            "p.csv",
            f"label,cat,dog,cow\ncat,{ROW}\ncat,1\n",
            "4 values like the header, got 2 in li",
        ),
        (
            "p.csv",
            f"label,cat,dog,cow\ncat,{ROW}\ncat,x,1,0\n",
            "must be numbers, one column per c",
        ),
        (
            "p.csv",
            f"label,cat,dog,cow\nelk,{ROW}\n",
            "names of classes or positions from 0, got 'elk'",
        ),
        ("p.csv", f"label,cat,dog,cow\n7,{ROW}\n2,{ROW}\n", "example 0 has label 7"),
        ("p.csv", f"label,cat,dog,cow\n0,{ROW}\n1,0.5,0.5,0.5\n", "row 1 sums to 1.5"),
        ("p.csv", f"label,cat,dog,cow\n0,{ROW}\n", "at least 2 examples, got 1"),
        ("p.csv", "label,cat\n0,1.0\n0,1.0\n", "at least 2 classes, got 1"),
        ("p.txt", "", r"a .csv or .npz file, got p.txt"),
        ("p.npz", "no archive", "cannot be read as an .npz archive"),
    ],
)
def test_bad_files_end_in_one_line_and_code_2(tmp_path, capsys, name, content, text):
    (tmp_path / name).write_text(content)
    assert main(["evaluate", str(tmp_path / name)]) == 2
    answer = capsys.readouterr()
    assert text in answer.err
    assert answer.err.count("\n") == 1
    assert answer.out == ""


@pytest.mark.parametrize(
    ("arrays", "options", "text"),
    [
        ({"probs": np.ones((2, 2)) / 2}, [], "labels and either probs or logits, got ['probs']"),
        ({"labels": [0, 1]}, [], "either probs or logits"),
        ({"labels": [0, 1], "probs": np.ones((2, 2)) / 2}, ["--logits"], "holds probs, not logits"),
        ({"labels": ["a", "b"], "probs": np.ones((2, 2)) / 2}, [], "classes must be given"),
        (
            {"labels": [0, 1], "probs": np.ones((2, 2)) / 2},
            ["--bins", "0"],
            "bins must be at least",
        ),
    ],
)
def test_bad_archives_end_in_one_line_and_code_2(tmp_path, capsys, arrays, options, text):
    np.savez(tmp_path / "p.npz", **arrays)
    assert main(["evaluate", str(tmp_path / "p.npz"), *options]) == 2
    assert text in capsys.readouterr().err


def test_a_missing_file_ends_in_one_line_and_code_2(tmp_path, capsys):
    for name in ("none.csv", "none.npz"):
        assert main(["evaluate", str(tmp_path / name)]) == 2
        assert "there is no file" in capsys.readouterr().err
