"""The tables of benchmarks/tables.py are made of its lines alone."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    sys.modules.pop("tables", None)
    import tables

    return tables


def line(model, fold, *, accuracy, nll):
    metrics = {"accuracy": accuracy, "balanced_accuracy": 0.5, "nll": nll, "ece": 0.1}
    return {
        "data": "wine",
        "model": model,
        "fold": fold,
        "classes": {"a": 3, "b": 70},
        "metrics": metrics | {"ece of a calibrated model": 0.07},
    }


def test_a_table_shows_means_with_their_interval_and_who_is_better(tables):
    accuracies = [0.8, 0.9, 0.8, 0.9, 0.85]  # mean 0.85, sd 0.05: 2.776 * 0.05 / sqrt(5) = 0.062
    lines = [
        line(model, fold, accuracy=accuracy, nll=nll + fold / 100)
        for model, nll in (("OddKOut", 0.2), ("MLP", 0.5))
        for fold, accuracy in enumerate(accuracies)
    ]
    text = tables.markdown([*lines, line("HistGradientBoosting", 0, accuracy=1.0, nll=0.0)])
    assert "| wine (70, 3) | OddKOut | 0.850 ± 0.062 | 0.500 ± 0.000 | 0.220 ± 0.020 |" in text
    assert "0.100 ± 0.000 (0.070) |" in text
    assert "| OddKOut | MLP | 0 / 1 / 0 | 0 / 1 / 0 | 1 / 0 / 0 | 0 / 1 / 0 |" in text
    assert "| HistGradientBoosting | 1.000" not in text, "a data set without all its folds"


def test_what_has_a_line_is_not_run_again_and_lines_are_whole(tables, tmp_path, monkeypatch):
    ran = []

    def run(name, model, fold):
        ran.append((name, model, fold))
        if len(ran) == 3:
            raise KeyboardInterrupt
        return line(model, fold, accuracy=0.5, nll=1.0) | {"data": name, "seconds": 1.0}

    monkeypatch.setattr(tables, "run", run)
    file = tmp_path / "tables.jsonl"
    for _ in range(2):
        ran.clear()
        with pytest.raises(KeyboardInterrupt):
            tables.run_missing(file)
    written = [json.loads(text) for text in file.read_text().splitlines()]
    cells = {(row["data"], row["model"], row["fold"]) for row in written}
    assert len(written) == len(cells) == 4


@pytest.mark.parametrize(
    "name", ["folds_page", "compared_tables", "simulated_comparisons", "imbalance_page"]
)
def test_a_page_is_what_its_lines_give(name, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    script = importlib.import_module(name)
    assert script.PAGE.read_text() == script.page()
    if name == "imbalance_page":
        assert script.GUIDE.read_text() == script.guide()


def test_the_page_on_methods_says_which_aims_are_met(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from imbalance_page import _aims

    setting = "mnist, heavy-tailed 200"
    rows = {"stack": (0.3, 0.9), "oko+la": (0.4, 0.8), "oko": (0.2, 0.95)}
    known = [
        {
            "setting": setting,
            "seed": seed,
            "metrics": {
                name: {
                    "calibrated": {"nll": nll + seed / 1e3, "accuracy": hits + seed * nll / 1e3},
                    "one network": {"nll": nll + (0.3 if name == "oko" else 0)},
                }
                for name, (nll, hits) in rows.items()
            },
        }
        for seed in range(23, 28)
    ]
    text = "\n".join(_aims(known))
    single = "NLL of one network as trained, MNIST, heavy-tailed 200"
    assert f"* {single}: `oko+la` has 0.400, rank 2 of 3: **missed** (lowest: `stack`" in text
    assert "`stack` has 0.325, rank 2 of 3: **missed** (lowest: `oko` 0.225)." in text
    assert "more accurate than `stack`: **missed**: oko, MNIST, heavy-tailed 200." in text


def test_the_page_on_speed_has_the_recorded_effect_of_bfloat16(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import members

    members.markdown()
    page = (BENCHMARKS.parent / "docs" / "speed.md").read_text()
    rows = capsys.readouterr().out.splitlines()[2:]
    assert len(rows) == 4
    for row in rows:
        name, accuracy, nll = row.strip("| ").split(" | ")[:3]
        cells = [cell.split(" (float32")[0] for cell in (accuracy, nll)]
        assert f"| {name} | {cells[0]} | {cells[1]} |" in page


def test_the_page_on_small_tables_has_the_recorded_lines(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import small_tables_confirm
    from lines import read
    from small_tables import FILE, TABLES
    from small_tables_page import page

    text = (BENCHMARKS.parent / "docs" / "small-tables.md").read_text()
    assert small_tables_confirm.summary() in text
    assert page(read(FILE), tables=TABLES) in text


def test_tabpfn_is_left_out_as_a_peer_of_tables_beyond_its_limits(monkeypatch):
    """On a and b it is the best peer; one fold of c has too many columns, there MLP is."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from small_tables_page import page

    losses = {"stack": 0.4, "MLP": 0.8, "TabPFN": 0.2}
    lines = [
        {"data": data, "model": model, "nll": nll, "balanced_accuracy": 0.5, "ece": 0.1}
        | {"seconds": 1.0}
        for data in "abc"
        for model, nll in losses.items()
    ]
    lines += [{"data": "c", "model": "TabPFN", "left out": "101 columns"}]
    lines += [
        {"data": "d", "model": "MLP", "nll": 9.0, "balanced_accuracy": 0.5, "ece": 0.1}
        | {"seconds": 1.0}
    ]
    text = page(lines, tables="abcd")
    assert "| a | TabPFN 0.2000 | 0.4000 (2.00) |" in text
    assert "| c | MLP 0.8000 | 0.4000 (0.50) |" in text
    assert "| d |" not in text, "a table that the stack has not fitted"
    assert "| stack | 1.260 [" in text, "the cube root of 2 * 2 / 2"
    assert "the best single peer, MLP: 0.500" in text
    assert "of TabPFN, on the 2 tables within its limits: 2.000" in text
    assert "the best peer other than TabPFN: 0.500" in text


@pytest.mark.parametrize(
    ("rows", "columns", "classes", "text"),
    [(1001, 3, 2, "1000 rows"), (50, 101, 2, "100 columns"), (50, 3, 11, "10 classes")],
)
def test_tabpfn_refuses_what_is_beyond_its_limits(monkeypatch, rows, columns, classes, text):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from tabpfn_peer import OutsideLimitsError, TabPFN

    with pytest.raises(OutsideLimitsError, match=f"TabPFN takes at most {text}"):
        TabPFN().fit(np.zeros((rows, columns)), np.arange(rows) % classes)


def test_cases_of_equal_confidence_are_answered_together(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from decided import share_at_risk

    guess = np.tile([0.6, 0.4], (10, 1))
    truth = np.array([0] * 6 + [1] * 4)
    assert share_at_risk(guess, truth, 0.05) == 0.0, "the first six rows are no choice"
    assert share_at_risk(guess, truth, 0.4) == 1.0
    surer = np.vstack([[0.9, 0.1], guess[1:]])
    assert share_at_risk(surer, truth, 0.05) == 0.1
