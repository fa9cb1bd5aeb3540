"""``oddkout verify``: exit codes, figures, and missing modules."""

import json

import pytest
from statements import BAD, GOOD, statement_with

from oddkout.cli import main
from oddkout.paper.theory import verification


@pytest.mark.parametrize(("checks", "code"), [((GOOD,), 0), ((GOOD, BAD), 1)])
def test_the_command_exits_1_if_a_statement_does_not_hold(monkeypatch, capsys, checks, code):
    monkeypatch.setattr(verification, "STATEMENTS", (lambda: statement_with(*checks),))
    assert main(["verify"]) == code
    text = capsys.readouterr().out
    assert ("DOES NOT HOLD" in text) == ("FAIL" in text) == bool(code)

    assert main(["verify", "--json"]) == code
    (answer,) = json.loads(capsys.readouterr().out)
    assert answer["name"] == "Lemma"
    assert answer["holds"] is not bool(code)
    assert [check["holds"] for check in answer["checks"]] == [c.holds for c in checks]


def test_the_command_writes_four_figures(monkeypatch, tmp_path):
    monkeypatch.setattr(verification, "STATEMENTS", (lambda: statement_with(GOOD),))
    assert main(["verify", "--figures", str(tmp_path / "new")]) == 0
    names = {file.stem for file in (tmp_path / "new").iterdir()}
    assert names == {"theorem-1-minimisers", "toy-descent", "logit-growth", "layout-variance"}
    for file in (tmp_path / "new").iterdir():
        start = b"\x89PNG" if file.suffix == ".png" else b"<?xml"
        assert file.read_bytes().startswith(start)


@pytest.mark.parametrize("missing", ["mpmath", "sklearn", "matplotlib"])
def test_a_missing_module_is_named_before_anything_is_computed(
    monkeypatch, capsys, tmp_path, missing
):
    monkeypatch.setattr("oddkout.cli.verify.find_spec", lambda name: None if name == missing else 1)
    assert main(["verify", "--figures", str(tmp_path)]) == 2
    assert f"needs {missing}; run: pip install 'oddkout[theory]'" in capsys.readouterr().err
