"""Folds: assignment, and the scores of out-of-fold predictions."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from oddkout.fitting.folds import (
    UNSCORED,
    assigned_folds,
    fitted_ledger,
    scored_folds,
    suitable_folds,
)
from oddkout.prior import PriorLedger

EQUAL = PriorLedger(assumed=(0.5, 0.5), stated=(0.5, 0.5), train=(0.5, 0.5))


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


def test_one_fold_holds_out_a_tenth_of_each_class():
    y = torch.repeat_interleave(torch.arange(4), torch.tensor([100, 40, 1, 3]))
    fold_of = assigned_folds(y, folds=1, seed=0)
    assert [int((fold_of[y == label] == 0).sum()) for label in range(4)] == [10, 4, 0, 0]
    tiny = assigned_folds(torch.tensor([0, 0, 0, 1, 1]), folds=1, seed=0)
    assert int((tiny == 0).sum()) == 1, "something is always held out"
    assert tiny[:3].max() == 0, "from the largest class"


def test_large_data_have_one_held_out_part():
    assert [suitable_folds(examples) for examples in (10, 10_000, 10_001)] == [5, 5, 1]


def test_scores_leave_out_what_is_never_scored_and_weigh_classes_as_told():
    """The right class gets probability 0.8 in class 0 and 0.4 in class 1."""
    y = torch.tensor([0] * 6 + [1] * 2 + [2])
    fold_of = torch.tensor([0, 1] * 4 + [UNSCORED])
    probs = torch.tensor([[0.8, 0.2, 1e-9]] * 6 + [[0.6, 0.4, 1e-9]] * 2 + [[1.0, 1e-9, 1e-9]])
    equal = (1 / 3,) * 3
    ledger = PriorLedger(assumed=equal, stated=equal, train=equal)
    plain, balanced = (
        scored_folds(probs.log(), y, fold_of, ledger=ledger, calibration="none", judged=judged)
        for judged in (None, equal)
    )
    assert plain.metrics["accuracy"] == pytest.approx(6 / 8)
    assert balanced.metrics["accuracy"] == pytest.approx(1 / 2)
    assert plain.metrics["nll"] == pytest.approx(-(6 * math.log(0.8) + 2 * math.log(0.4)) / 8)
    assert balanced.metrics["nll"] == pytest.approx(-(math.log(0.8) + math.log(0.4)) / 2)


def sample(examples, seed=0):
    """Logits that are four times too large."""
    source = torch.Generator().manual_seed(seed)
    logits = torch.randn(examples, 2, generator=source)
    return 4 * logits, logits.softmax(dim=1).multinomial(1, generator=source)[:, 0]


def test_no_example_is_used_to_calibrate_its_own_score():
    """Each fold's calibration is fitted to the other fold: recomputed here by hand."""
    logits, y = sample(40)
    fold_of = torch.arange(40) % 2
    scores = scored_folds(logits, y, fold_of, ledger=EQUAL, calibration="folds", judged=None)
    losses = []
    for fold in (0, 1):
        others = fold_of != fold
        ledger = fitted_ledger(EQUAL, logits[others], y[others], calibration="folds", judged=None)
        losses.append(F.cross_entropy(ledger.logits(logits[~others]).double(), y[~others]).item())
    assert scores.metrics["nll"] == pytest.approx(sum(losses) / 2, rel=1e-6)
    assert scores.ledger == fitted_ledger(EQUAL, logits, y, calibration="folds", judged=None)


def test_the_score_of_one_held_out_part_is_cross_fitted_too():
    logits, y = sample(60)
    fold_of = torch.where(torch.arange(60) < 30, 0, UNSCORED)
    scores = scored_folds(logits, y, fold_of, ledger=EQUAL, calibration="folds", judged=None)
    own = F.cross_entropy(scores.ledger.logits(logits[:30]).double(), y[:30]).item()
    assert scores.metrics["nll"] > own, "a fit to the scored examples themselves is optimistic"
    assert scores.ledger.temperature > 1.5


def test_calibration_may_fit_the_temperature_alone_or_nothing():
    logits, y = sample(300)
    ledger = PriorLedger(assumed=(0.5, 0.5), stated=(0.9, 0.1), train=(0.9, 0.1))
    fits = {
        kind: fitted_ledger(ledger, logits, y, calibration=kind, judged=None)
        for kind in ("none", "temperature", "folds")
    }
    assert fits["none"] == ledger
    assert fits["temperature"].strength == 0 != fits["folds"].strength
    losses = [F.cross_entropy(fit.logits(logits), y).item() for fit in fits.values()]
    assert losses == sorted(losses, reverse=True), "each fits at least as well as the one before"
