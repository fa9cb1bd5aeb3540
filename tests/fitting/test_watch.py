"""Out-of-fold NLL during training."""

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss

from oddkout.fitting.watch import FoldWatch
from oddkout.prior import PriorLedger

PRIOR = (0.5, 0.3, 0.2)


def watch(y, fold_of, **changes):
    options = {
        "is_held": [fold_of == fold for fold in range(int(fold_of.max()) + 1)],
        "every": 20,
        "ledger": PriorLedger(assumed=PRIOR, stated=PRIOR, train=PRIOR),
        "judged": None,
    }
    return FoldWatch(y, **options | changes)


def example():
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(3, (23,), generator=generator)
    fold_of = torch.arange(23) % 4 - 1  # -1: never scored
    logits = 3 * torch.randn(23, 3, generator=generator)
    return y, fold_of, logits


def test_the_score_is_the_nll_of_held_examples_at_the_best_temperature():
    y, fold_of, logits = example()
    followed = watch(y, fold_of)
    followed.record(20, logits[followed.rows])
    held = fold_of >= 0
    expected = min(
        log_loss(y[held], (logits[held].double() / t).softmax(dim=1), labels=[0, 1, 2])
        for t in (0.5, 0.7, 1.0, 1.4, 2.0)
    )
    assert followed.curve[20] == pytest.approx(expected, rel=1e-5)


def test_logits_are_moved_to_the_stated_frequencies():
    y, fold_of, logits = example()
    ledger = PriorLedger(assumed=(1 / 3,) * 3, stated=PRIOR, train=PRIOR)
    moved, plain = watch(y, fold_of, ledger=ledger), watch(y, fold_of)
    moved.record(20, logits[moved.rows])
    # A temperature below 1 is best for small logits, and acts before the frequencies do.
    shift = torch.tensor(np.log(PRIOR) - np.log(1 / 3)).float()
    scores = [
        torch.nn.functional.cross_entropy(logits[fold_of >= 0] / t + shift, y[fold_of >= 0]).item()
        for t in (0.5, 0.7, 1.0, 1.4, 2.0)
    ]
    assert moved.curve[20] == pytest.approx(min(scores), rel=1e-5)
    plain.record(20, logits[plain.rows])
    assert moved.curve != plain.curve


def test_training_ends_when_the_minimum_lies_far_back():
    y, fold_of, _ = example()
    followed = watch(y, fold_of)
    good = torch.nn.functional.one_hot(y, 3).float()
    quality = {20: 1.0, 40: 4.0, 60: 2.0}
    kept = [
        update for update, q in quality.items() if followed.record(update, q * good[followed.rows])
    ]
    assert kept == [20, 40]
    assert followed.best == 40
    assert not followed.is_over(159)
    assert followed.is_over(160)  # 1.5 * 40 + 100


def test_many_examples_are_sampled_evenly():
    y = torch.arange(100_000) % 2
    followed = watch(y, torch.arange(100_000) % 5, ledger=PriorLedger(
        assumed=(0.5, 0.5), stated=(0.5, 0.5), train=(0.5, 0.5)))  # fmt: skip
    assert followed.rows.shape == (5, 800)
    assert (followed.rows % 5 == torch.arange(5)[:, None]).all()
    assert followed.rows[:, 0].max() < 5
    assert followed.rows[:, -1].min() >= 99_995
