"""The figures of the pages of results are drawn from committed lines alone."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from made_up import TEN_SHOT, evidence_of, made_up

from oddkout.paper.evidence import Evidence
from oddkout.paper.figures import PAPER_FIGURES, panels_of
from oddkout.paper.presets import PRESETS
from oddkout.paper.results import results_evidence
from oddkout.paper.results_figures import (
    FEW_FIGURE,
    FOLDER,
    PRIMARY_FIGURE,
    few_examples,
    figure_name,
    write_results_figures,
)
from oddkout.paper.settings import Setting

pytestmark = pytest.mark.usefixtures("without_shape_checks")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def committed():
    return results_evidence(ROOT / "results")[0]


def words(path):
    """Words and numbers of a figure: another matplotlib may place them elsewhere."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text())


def test_committed_figures_are_what_the_lines_give(committed, tmp_path):
    drawable = [FEW_FIGURE, PRIMARY_FIGURE]
    drawable += [figure_name(one.name) for one in PAPER_FIGURES[1:4] if panels_of(one, committed)]
    for path in write_results_figures(committed, tmp_path, names=tuple(drawable)):
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
        write_results_figures(evidence, tmp_path / folder, names=(
            "figure-2", "figure-3", PRIMARY_FIGURE, FEW_FIGURE,
        ))  # fmt: skip
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["figure-2.svg"]
    first, second = (tmp_path / folder / "figure-2.svg" for folder in "ab")
    assert first.read_bytes() == second.read_bytes()


def test_the_first_picture_has_every_seed_and_the_calibrated_mean():
    whole = [
        (setting, name, seed)
        for setting, name, seed in PRESETS["paper"].entries
        if setting.per_class == (10 if setting.distribution == "uniform" else 20)
    ]
    runs = []
    for setting, name, seed in whole:
        run = made_up(setting, name, seed=seed)
        trained = run.as_trained | {"nll": {"value": 0.1 * (seed - 39)}}
        extras = {"temperature": {"nll": 0.7}}
        if setting.distribution != "uniform":
            extras["adjusted"] = {"nll": 0.4 + (seed - 42) / 100}
        runs.append(replace(run, as_trained=trained, extras=extras))
    drawn = few_examples(Evidence(runs))
    assert len(drawn.axes) == 4
    for ax, calibrated in zip(drawn.axes, (0.7, 0.7, 0.4, 0.4), strict=True):
        dots, mean, diamond = (line for line in ax.lines if set(line.get_ydata()) == {1})
        assert list(dots.get_xdata()) == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
        assert list(mean.get_xdata()) == pytest.approx([0.3])
        assert list(diamond.get_xdata()) == pytest.approx([calibrated])
    assert few_examples(Evidence(runs[1:])) is None, "vanilla lacks a seed"
