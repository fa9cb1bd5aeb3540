"""The figures of the pages of results are drawn from committed lines alone."""

import re
from pathlib import Path

import pytest
from made_up import TEN_SHOT, evidence_of, made_up

from oddkout.paper.figures import PAPER_FIGURES, panels_of
from oddkout.paper.results import results_evidence
from oddkout.paper.results_figures import (
    FOLDER,
    NLL_FIGURE,
    PRIMARY_FIGURE,
    figure_name,
    write_results_figures,
)
from oddkout.paper.settings import Setting

pytestmark = pytest.mark.usefixtures("without_shape_checks")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def committed():
    return results_evidence(ROOT / "results")


def words(path):
    """Words and numbers of a figure: another matplotlib may place them elsewhere."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text())


def test_committed_figures_are_what_the_lines_give(committed, tmp_path):
    drawable = [NLL_FIGURE, PRIMARY_FIGURE]
    drawable += [
        figure_name(one.name) for one in PAPER_FIGURES[1:4] if panels_of(one, committed[0])
    ]
    for path in write_results_figures(*committed, tmp_path, names=tuple(drawable)):
        assert words(path) == words(ROOT / FOLDER / path.name)


def test_the_same_runs_give_the_same_bytes_and_old_figures_are_removed(tmp_path):
    runs = [
        made_up(setting, name, seed=seed, accuracy=0.8 + seed / 100)
        for setting in (TEN_SHOT, Setting("mnist", "heavy-tailed", 10))
        for name in ("oko", "bb")
        for seed in (0, 1, 2)
    ]
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "figure-99.svg").write_text("old")
    for folder, own in (("a", runs), ("b", runs[::-1])):
        evidence = evidence_of(own)
        write_results_figures(evidence, evidence_of(), tmp_path / folder, names=(
            "figure-2", "figure-3", PRIMARY_FIGURE, NLL_FIGURE,
        ))  # fmt: skip
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["figure-2.svg"]
    first, second = (tmp_path / folder / "figure-2.svg" for folder in "ab")
    assert first.read_bytes() == second.read_bytes()
