"""Every statement of the theory holds, and the command says so; or says that it does not."""

import json
import math
from dataclasses import replace

import pytest
import torch

from oddkout.cli import main
from oddkout.paper import theory
from oddkout.paper.theory import Check, Statement, verification
from oddkout.paper.theory.divergence import toy_path
from oddkout.paper.theory.pools import LayoutVariances

GOOD = Check(quantity="one", value=1.0, relation="=", expected=1)
BAD = replace(GOOD, value=2.0)


def claim(*checks):
    return Statement(name="Lemma", statement="So it is.", computed="By hand.", checks=checks)


@pytest.mark.parametrize("statement", verification.STATEMENTS, ids=lambda s: s.__name__)
def test_the_statement_holds(statement):
    result = statement()
    assert result.holds, str(result)


@pytest.mark.parametrize(
    ("value", "relation", "expected", "tolerance", "holds"),
    [
        (1.05, "=", 1, 0.1, True),
        (0.95, "=", 1, 0.1, True),
        (1.2, "=", 1, 0.1, False),
        (0.8, "=", 1, 0.1, False),
        (-5, "<=", 1, 0, True),
        (1.05, "<=", 1, 0.1, True),
        (1.2, "<=", 1, 0.1, False),
        (5, ">=", 1, 0, True),
        (0.95, ">=", 1, 0.1, True),
        (0.8, ">=", 1, 0.1, False),
        *((math.nan, relation, 0, 1, False) for relation in ("=", "<=", ">=")),
    ],
)
def test_a_check_holds_within_its_tolerance(value, relation, expected, tolerance, holds):
    check = Check(
        quantity="", value=value, relation=relation, expected=expected, tolerance=tolerance
    )
    assert check.holds is holds


def test_a_claim_holds_if_all_its_checks_do_and_it_has_some():
    assert claim(GOOD, GOOD).holds
    assert not claim(GOOD, BAD).holds
    assert not claim().holds


def test_verify_returns_the_claims_and_hands_them_out_as_they_come(monkeypatch):
    monkeypatch.setattr(verification, "STATEMENTS", (lambda: claim(GOOD), lambda: claim(BAD)))
    seen = []
    assert theory.verify(on_claim=seen.append) == seen == [claim(GOOD), claim(BAD)]


def test_verify_computes_on_one_thread_and_gives_the_others_back(monkeypatch):
    during, threads = [], torch.get_num_threads()

    def statement():
        during.append(torch.get_num_threads())
        return claim(GOOD)

    monkeypatch.setattr(verification, "STATEMENTS", (statement,))
    torch.set_num_threads(2)
    try:
        theory.verify()
        assert (during, torch.get_num_threads()) == ([1], 2)
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize(("checks", "code"), [((GOOD,), 0), ((GOOD, BAD), 1)])
def test_the_command_exits_1_if_a_statement_does_not_hold(monkeypatch, capsys, checks, code):
    monkeypatch.setattr(verification, "STATEMENTS", (lambda: claim(*checks),))
    assert main(["verify"]) == code
    text = capsys.readouterr().out
    assert ("DOES NOT HOLD" in text) == ("FAIL" in text) == bool(code)

    assert main(["verify", "--json"]) == code
    (answer,) = json.loads(capsys.readouterr().out)
    assert answer["name"] == "Lemma"
    assert answer["holds"] is not bool(code)
    assert [check["holds"] for check in answer["checks"]] == [c.holds for c in checks]


def test_the_command_writes_four_figures(monkeypatch, tmp_path):
    monkeypatch.setattr(verification, "STATEMENTS", (lambda: claim(GOOD),))
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


def test_figures_show_the_numbers_they_are_given():
    from matplotlib.figure import Figure

    from oddkout.paper.theory import figures

    axes = Figure().subplots(2, 2).flatten()
    path = toy_path((0, 3), rate=0.1, steps=5)
    figures.draw_toy(path, axes[0])
    assert axes[0].lines[0].get_xydata().tolist() == path.tolist()

    figures.draw_growth({"a": [0.0, 1.0, 2.0], "b": [0.0, 2.0, 4.0], "c": [0.0, 3.0, 6.0]}, axes[1])
    assert axes[1].lines[1].get_xydata().tolist() == [[1, 2], [2, 4]]

    probabilities = torch.tensor([[0.5, 0.7, 0.3], [0.5, 0.6, 0.4]], dtype=torch.float64)
    figures.draw_minimisers([0.1, 0.01], probabilities, axes[2])
    drawn = [line.get_ydata() for line in axes[2].lines if len(line.get_xdata()) == 2]
    assert any(list(values) == [0.7, 0.6] for values in drawn)

    variances = LayoutVariances(
        cost=30, k=1, one_set=10.0, between=1.0, between_error=0.1, within=9.0, within_error=0.1
    )
    figures.draw_variance(variances, [1, 9], axes[3])
    assert axes[3].lines[0].get_ydata().tolist() == [10, 2]
    assert axes[3].lines[1].get_ydata()[0] == variances.paper == 1
