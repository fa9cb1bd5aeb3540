"""The paper's figures from runs."""

import pytest
from made_up import TEN_SHOT, evidence_of, with_seeds

from oddkout.paper.figures import PAPER_FIGURES, draw_paper_figure, save_paper_figures
from oddkout.paper.settings import Setting
from oddkout.report.figures import style


def test_figures_that_need_predictions_say_so(tmp_path):
    evidence = evidence_of(*(with_seeds(TEN_SHOT, name, [0.8, 0.9]) for name in ("oko", "bb")))
    _, absent = save_paper_figures(evidence, tmp_path)
    assert absent["3"] == "it needs runs with predictions, and there are none"
    assert "2" not in absent


def figure_named(name):
    return next(figure for figure in PAPER_FIGURES if figure.name == name)


def test_every_method_is_drawn_at_its_own_sizes_with_all_of_their_seeds():
    larger, largest = (Setting("mnist", "uniform", size) for size in (20, 30))
    evidence = evidence_of(
        with_seeds(TEN_SHOT, "oko", [0.7, 0.8, 0.9]), with_seeds(larger, "oko", [0.9, 0.9]),
        with_seeds(TEN_SHOT, "bb", [0.6]), with_seeds(larger, "vanilla", [0.5]),
        with_seeds(largest, "oko", [0.9]),
    )  # fmt: skip
    with style():
        [ax] = draw_paper_figure(figure_named("2"), evidence).axes
    assert [line.get_xdata().tolist() for line in ax.lines] == [[100, 200], [200], [100]], (
        "oko alone at 300"
    )
    assert ax.lines[0].get_ydata() == pytest.approx([80, 90])


def test_a_panel_with_one_method_compares_nothing_and_is_left_out():
    evidence = evidence_of(with_seeds(TEN_SHOT, "oko", [0.7, 0.8]))
    assert draw_paper_figure(figure_named("11"), evidence) is None
