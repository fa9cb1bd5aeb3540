"""The winner of a comparison, trained as it was compared."""

from dataclasses import replace

import pytest
from synthetic import SETTING, fill

from oddkout.comparing.winner import fit_winner, winning_config


def test_the_winner_needs_folds_and_its_own_data(tmp_path):
    (tmp_path / "other.csv").write_text("x,y\n1,2\n")
    store, comparison = fill(tmp_path / "runs", methods=["vanilla", "oko"], seeds=1)
    with pytest.raises(
        ValueError, match=r"a comparison on digits, but .*other.csv holds different data"
    ):
        winning_config(tmp_path / "runs", source=tmp_path / "other.csv")
    for run in comparison.runs:
        store.forget(run)
        run.fold_metrics = {}
        store.write(run)
    with pytest.raises(ValueError, match="has no winner: it has no folds"):
        winning_config(tmp_path / "runs", source="digits")


def test_another_target_than_the_one_that_was_compared_is_refused(tmp_path):
    fill(tmp_path, methods=["vanilla"], seeds=1, setting=replace(SETTING, target="diagnosis"))
    with pytest.raises(ValueError, match="for the target 'diagnosis', got 'ward'; leave the"):
        fit_winner(tmp_path, "digits", target="ward")
