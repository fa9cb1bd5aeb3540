"""Folds: assignment, out-of-fold predictions and their scores."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from oddkout.fitting.folds import UNSCORED, assigned_folds, fold_logits, scored_folds
from oddkout.prior import PriorLedger


@given(st.lists(st.integers(1, 9), min_size=2, max_size=6), st.integers(2, 6), st.integers(0, 99))
def test_every_class_of_two_is_scored_and_always_trained_on(sizes, folds, seed):
    y = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    fold_of = assigned_folds(y, folds=folds, seed=seed)
    if fold_of is None:
        assert sum(size for size in sizes if size > 1) < 2
        return
    for label, size in enumerate(sizes):
        of_class = fold_of[y == label]
        assert (of_class == UNSCORED).all() if size == 1 else (of_class >= 0).all()
        for fold in range(int(fold_of.max()) + 1):
            assert (of_class != fold).any(), "each network trains on every class"
            assert (of_class == fold).sum() <= -(-size // (int(fold_of.max()) + 1)), "evenly"


def test_each_example_is_predicted_by_the_network_that_did_not_see_it():
    y = torch.tensor([0, 0, 0, 1, 1, 2])
    fold_of = assigned_folds(y, folds=2, seed=0)

    def predict(fold, is_trained, is_held):
        assert (fold_of[is_held] == fold).all()
        assert torch.equal(is_trained, ~is_held)
        assert is_trained[5], "the single example of class 2 is in every training part"
        return torch.full((int(is_held.sum()), 3), float(fold + 1))

    logits = fold_logits(y, fold_of, classes=3, predict=predict)
    assert logits[:, 0].tolist() == [*(fold_of[:5] + 1).tolist(), 0]


def test_scores_leave_out_what_is_never_scored_and_weigh_classes_as_told():
    """The right class gets probability 0.8 in class 0 and 0.4 in class 1."""
    y = torch.tensor([0] * 6 + [1] * 2 + [2])
    fold_of = torch.tensor([0, 1] * 4 + [UNSCORED])
    probs = torch.tensor([[0.8, 0.2, 1e-9]] * 6 + [[0.6, 0.4, 1e-9]] * 2 + [[1.0, 1e-9, 1e-9]])
    ledger = PriorLedger(assumed=(0.4, 0.4, 0.2), stated=(0.4, 0.4, 0.2))
    plain, balanced = (
        scored_folds(probs.log(), y, fold_of, ledger=ledger, is_balanced=is_balanced)
        for is_balanced in (False, True)
    )
    assert plain.metrics["accuracy"] == pytest.approx(6 / 8)
    assert balanced.metrics["accuracy"] == pytest.approx(1 / 2)
    assert balanced.metrics["nll"] > plain.metrics["nll"]
