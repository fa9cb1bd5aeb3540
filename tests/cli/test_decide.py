"""``oddkout decide``: from a model and a file to decisions."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from oddkout import Classifier, fit, load_data
from oddkout.cli import main

SMALL = {"learning_rates": [0.1], "recipe": {"updates": 60}, "test_size": 0.0}


def frame(rows, seed):
    rng = np.random.default_rng(seed)
    kind = np.where(rng.random(rows) < 0.4, "=cmd()", "well")
    return pd.DataFrame(
        {
            "id": [f"p{number}" for number in range(rows)],
            "dose": rng.normal(size=rows) + 3 * (kind == "well"),
            "kind": kind,
        }
    )


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with a model and new cases."""
    folder = tmp_path_factory.mktemp("desk")
    fit(frame(300, 0).drop(columns="id"), target="kind", **SMALL).save(folder / "model")
    frame(40, 1).drop(columns="kind").to_csv(folder / "new.csv", index=False)
    return folder


def decide(desk, *options):
    return main(["decide", str(desk / "model"), str(desk / "new.csv"), *options])


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_answers_are_those_of_python_and_formulas_are_defused(desk, capsys):
    assert decide(desk, "--risk", "0.1", "--keep", "id") == 0
    printed = capsys.readouterr()
    found = rows(printed.out)
    expected = Classifier.load(desk / "model").decide(pd.read_csv(desk / "new.csv"), risk=0.1)
    assert [row["id"] for row in found] == [f"p{number}" for number in range(40)]
    assert [row["answer"].removeprefix("'") for row in found] == list(expected)
    assert [row["reason"] for row in found] == list(expected.reasons)
    assert "'=cmd()" in {row["answer"] for row in found}
    answered = sum(answer != "refer" for answer in expected)
    assert (
        f"of 40 cases {answered} are answered, {40 - answered} referred; at most 10 % of the"
        in (printed.err)
    )


def test_predictions_are_defused_too_and_evaluated_by_their_own_names(desk, tmp_path, capsys):
    model, labelled = desk / "model", tmp_path / "labelled.csv"
    frame(40, 1).to_csv(labelled, index=False)
    assert main(["predict", str(model), str(labelled), "--keep", "id,kind"]) == 0
    text = capsys.readouterr().out
    found = rows(text)
    assert list(found[0]) == ["id", "kind", "predicted", "'=cmd()", "well"]
    assert {row["kind"] for row in found} == {"'=cmd()", "well"}
    (tmp_path / "p.csv").write_text(text)
    assert main(["evaluate", str(tmp_path / "p.csv"), "--target", "kind", "--json"]) == 0
    accuracy = json.loads(capsys.readouterr().out)["metrics"]["accuracy"]["value"]
    assert accuracy == np.mean([row["kind"] == row["predicted"] for row in found])


def test_sets_are_joined_and_rows_numbered_from_1(desk, capsys):
    assert decide(desk, "--coverage", "0.95") == 0
    printed = capsys.readouterr()
    found = rows(printed.out)
    assert [row["row"] for row in found] == [str(number) for number in range(1, 41)]
    assert {row["set"] for row in found} <= {"'=cmd()", "well", "'=cmd() | well", ""}
    assert "coverage, for each class" in printed.err


def test_json_holds_names_as_they_are(desk, capsys):
    assert decide(desk, "--coverage", "0.9", "--overall", "--keep", "id,dose", "--json") == 0
    printed = capsys.readouterr()
    record = json.loads(printed.out)
    assert printed.err == ""
    assert len(record["cases"]) == 40
    assert set(record["cases"][0]) == {"id", "dose", "set", "reason"}
    assert "=cmd()" in {name for case in record["cases"] for name in case["set"]}
    assert "not for each class" in record["guarantee"]


def test_costs_come_from_a_file_and_decisions_go_to_one(desk, tmp_path, capsys):
    (tmp_path / "costs.csv").write_text("true,treat,leave,refer\n=cmd(),0,30,2\nwell,1,0,2\n")
    out = tmp_path / "decisions.csv"
    options = ["--costs", str(tmp_path / "costs.csv"), "--prior", "0.01,0.99", "--out", str(out)]
    assert decide(desk, *options) == 0
    assert "expected cost per case" in capsys.readouterr().out
    rare = [row["answer"] for row in rows(out.read_text())]
    assert decide(desk, *options[:2]) == 0
    usual = [row["answer"] for row in rows(capsys.readouterr().out)]
    assert set(rare) | set(usual) <= {"treat", "leave", "refer"}
    assert rare.count("treat") < usual.count("treat")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_images_are_decided_on_too(tmp_path, capsys):
    fit("digits", recipe={"updates": 60}, learning_rates=[0.1], folds=2).save(tmp_path / "model")
    assert main(["decide", str(tmp_path / "model"), "digits", "--coverage", "0.9"]) == 0
    found = rows(capsys.readouterr().out)
    truth = load_data("digits").y_test
    hits = [str(own) in row["set"].split(" | ") for own, row in zip(truth, found, strict=True)]
    assert np.mean(hits) > 0.85


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ([], "one of coverage, risk and costs must be given, got none"),
        (["--coverage", "90"], "coverage must lie between 0 and 1, both excluded, got 90.0"),
        (
            ["--risk", "0.1", "--keep", "ids"],
            "hold the column 'ids', but it does not; did you mean",
        ),
        (["--risk", "0.1", "--keep", "answer"], "like another column of the output, got [answer]"),
        (["--costs", "gone.csv"], "there is no file gone.csv"),
        (["--risk", "0.1", "--prior", "1,2,3"], "prior must be"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(desk, options, text, capsys):
    assert decide(desk, *options) == 2
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1
