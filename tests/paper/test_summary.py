"""The summary table of OKO and the best other method."""

from made_up import TEN_SHOT, evidence_of, with_seeds

from oddkout.paper.settings import Setting
from oddkout.paper.summary import summary


def test_the_summary_has_oko_beside_the_best_other_method():
    evidence = evidence_of(
        with_seeds(TEN_SHOT, "oko", [0.92, 0.94], ece=0.02),
        with_seeds(TEN_SHOT, "bb", [0.91, 0.93], ece=0.05),
        with_seeds(TEN_SHOT, "focal", [0.89, 0.9], ece=0.03),
        with_seeds(TEN_SHOT, "vanilla", [0.99]),  # lacks a seed
        with_seeds(TEN_SHOT, "oko-soft", [0.99, 0.99]),  # learns from sets, too
        with_seeds(Setting("mnist", "uniform", 20), "oko", [0.9, 0.9]),  # stands alone
    )
    text = summary(evidence).markdown()
    assert "accuracy in 1, NLL in 0 and ECE in 1 of 1 settings" in text
    [line] = [line for line in text.splitlines() if line.startswith("| MNIST")]
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells[:2] == ["MNIST, uniform, 10 per class", "2"]
    assert [cell.split(" ±")[0] for cell in cells[2:]] == [
        "93.0", "BB: 92.0", "0.600", "Focal loss: 0.600", "0.020", "Focal loss: 0.030",
    ]  # fmt: skip
    assert [cell.endswith(" *") for cell in cells[2::2]] == [True, False, True]
    assert summary(evidence_of()).parts == []
