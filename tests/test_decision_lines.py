"""The recorded simulations of decisions keep what is promised."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in ("decisions", "lines"):
        sys.modules.pop(name, None)
    import decisions

    return decisions


def test_every_simulation_is_recorded_and_keeps_its_promise(benchmark):
    found = benchmark.lines.read(benchmark.LINES)
    for one in benchmark.wanted():
        assert any(one.items() <= line.items() for line in found), one
    assert benchmark.broken_promises(found) == []


def test_the_page_shows_the_recorded_lines(benchmark):
    page = (BENCHMARKS.parent / "docs" / "decisions.md").read_text()
    for table in benchmark.markdown(benchmark.lines.read(benchmark.LINES)).split("\n\n"):
        assert table in page


def test_a_broken_promise_is_seen(benchmark):
    sets = {"part": "sets", "by_class": True, "coverage": 0.9, "error": 0.001}
    sets |= {"worst_class": 0.9, "worst_error": 0.001}
    members = {"part": "member sets", "members": {"coverage": 0.79}}
    referral = {"part": "referral", "exceeded": 0.09, "draws": 500}
    assert benchmark.broken_promises([sets]) == []
    broken = [sets | {"coverage": 0.89}, sets | {"worst_class": 0.89}, members, referral]
    assert benchmark.broken_promises(broken) == broken


@pytest.mark.parametrize("part", ["sets", "referral", "member sets", "member referral"])
def test_a_simulation_runs(benchmark, monkeypatch, part):
    monkeypatch.setattr(benchmark, "DRAWS", 3)
    monkeypatch.setattr(benchmark, "FRESH", 500)
    one = next(one for one in benchmark.wanted() if one["part"] == part)
    line = benchmark.perform(**one)
    assert one.items() <= line.items()
