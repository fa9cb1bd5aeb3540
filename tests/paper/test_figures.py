"""The paper's figures from runs."""

from made_up import TEN_SHOT, evidence_of, with_seeds

from oddkout.paper.figures import save_paper_figures


def test_figures_that_need_predictions_say_so(tmp_path):
    evidence = evidence_of(with_seeds(TEN_SHOT, "oko", [0.8, 0.9]))
    _, absent = save_paper_figures(evidence, tmp_path)
    assert absent["3"] == "it needs runs with predictions, and there are none"
    assert "2" not in absent
