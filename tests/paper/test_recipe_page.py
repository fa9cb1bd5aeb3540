"""The tables of docs/recipe.md are those that the committed lines give, to the last digit."""

import importlib
import sys
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]


@pytest.fixture
def benchmark_named(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setattr(torch, "set_num_threads", lambda count: None)  # other tests want theirs

    def imported(name):
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    return imported


@pytest.mark.parametrize(("name", "count"), [("recipe", 3), ("temperature", 1), ("lead", 3)])
def test_the_tables_of_the_page_follow_from_the_recorded_lines(
    benchmark_named, capsys, monkeypatch, name, count
):
    if name == "lead":
        pytest.importorskip("sklearn")
    monkeypatch.setattr(sys, "argv", [name, "--markdown"])
    benchmark_named(name).main()
    tables = capsys.readouterr().out.strip().split("\n\n")
    assert len(tables) == count
    page = (ROOT / "docs" / "recipe.md").read_text()
    for table in tables:
        assert table in page


def test_a_recorded_line_is_not_performed_again(benchmark_named, tmp_path):
    lines = benchmark_named("lines")
    file, performed = tmp_path / "lines.jsonl", []

    def perform(row, seed):
        performed.append((row, seed))
        return {"row": row, "seed": seed, "recipe": {"dropout": seed}}

    wanted = [{"row": "a", "seed": seed} for seed in (0, 1)]
    lines.perform_missing(file, wanted[:1], perform)
    lines.perform_missing(file, wanted, perform)
    assert performed == [("a", 0), ("a", 1)]
    assert lines.read(file)[1] == {"row": "a", "seed": 1, "recipe": {"dropout": 1}}
