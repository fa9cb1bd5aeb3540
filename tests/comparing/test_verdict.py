"""The verdict claims no more than the runs support."""

from rivals import QUICK, signal_table
from sklearn.naive_bayes import GaussianNB

import oddkout as oko
from oddkout.report.headline import headline


def test_pure_noise_is_called_guessing(tmp_path):
    x, y = signal_table(signal=0.0)
    comparison = oko.compare(
        (x, y),
        methods=["vanilla+ls"],
        contestants={"bayes": GaussianNB()},
        seeds=3,
        out=tmp_path,
        **QUICK,
    )
    assert comparison.verdict.startswith("Nothing beats guessing: no contestant predicts better")
    assert "With 24 test examples, an NLL lower by less than about" in comparison.verdict
    assert headline(comparison) == "Nothing beats guessing the class frequencies"


def test_the_verdict_names_logistic_regression_if_nothing_beats_it(tmp_path):
    comparison = oko.compare(
        signal_table(rows=300),
        methods=["vanilla+ls"],
        contestants={"bayes": GaussianNB()},
        seeds=3,
        out=tmp_path,
        **QUICK,
    )
    assert "Nothing beats logistic regression significantly in NLL." in comparison.verdict
    assert "is the cheaper to train." in comparison.verdict
