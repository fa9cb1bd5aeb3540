"""The verdict claims no more than the runs support."""

from dataclasses import replace

import numpy as np
import pytest
from rivals import QUICK, signal_table
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.naive_bayes import GaussianNB

import oddkout as oko
from oddkout.comparing.saved import load_comparison, save_comparison
from oddkout.comparing.verdict import _simple, _too_few, better_than
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
    assert "With 24 test examples, a difference in NLL below about" in comparison.verdict
    assert "is within chance" in comparison.verdict
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
    for seconds, end in ((0.5, "bayes is the cheaper to train."), (0.9, "both take about as long")):
        for run in comparison.runs:
            run.seconds["cpu"] = seconds if run.config.method == "bayes" else 1.0
        assert f"is statistically indistinguishable; {end}" in comparison.verdict


@pytest.mark.parametrize(("gap", "end"), [(0.05, "chance."), (0.2, "test examples to decide.")])
def test_a_test_part_that_cannot_show_a_large_difference_is_too_small(gap, end):
    assert _too_few(36, gap).endswith(end)


def test_the_verdict_names_who_beats_logistic_regression(tmp_path, monkeypatch):
    """Two rings: a line cannot tell them apart, trees can."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    angles = rng.uniform(0, 2 * np.pi, 300)
    x = (1 + y)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    comparison = oko.compare(
        (x + 0.1 * rng.normal(size=x.shape), y), methods=["vanilla"], seeds=3, out=tmp_path,
        contestants={"trees": ExtraTreesClassifier(50, random_state=0)}, **QUICK,
    )  # fmt: skip
    assert "trees" in better_than(comparison, "logistic")
    sentence = _simple(comparison)
    assert sentence.startswith("trees beats logistic regression significantly: ")
    assert sentence.endswith("more probability on the true class.")
    # If all pairs do not separate the two, the verdict must not seem to contradict itself.
    monkeypatch.setattr(type(comparison), "tied", lambda *_, **__: comparison.methods)
    assert _simple(comparison).endswith("in comparisons with logistic regression alone.")


def test_warnings_are_part_of_the_verdict_and_are_saved(tmp_path):
    comparison = oko.compare(signal_table(), methods=["vanilla"], seeds=1, out=tmp_path, **QUICK)
    doubtful = replace(comparison, warnings=["the patients are on both sides"])
    assert doubtful.verdict.endswith("Warning: the patients are on both sides.")
    save_comparison(doubtful)
    assert load_comparison(tmp_path).verdict == doubtful.verdict
