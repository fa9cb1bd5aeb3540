"""Balance: which examples are drawn, what is added, and which prior the logits are for."""

import math

import pytest
import torch

from oddkout import class_weights
from oddkout.balance import Balance

PRIOR = [0.64, 0.32, 0.04]


@pytest.mark.parametrize(
    ("balance", "drawn", "assumed"),
    [
        (Balance(), PRIOR, PRIOR),
        (Balance(kind="resample"), [1 / 3] * 3, [1 / 3] * 3),
        (Balance(kind="resample", power=1), PRIOR, PRIOR),
        (Balance(kind="reweight"), PRIOR, [1 / 3] * 3),
        (Balance(kind="adjust", power=1), PRIOR, [1 / 3] * 3),
        (Balance(kind="adjust", power=1, tau=0), PRIOR, PRIOR),
        (Balance(kind="adjust", power=0), [1 / 3] * 3, [1 / 3] * 3),
    ],
)
def test_the_prior_of_the_logits_follows_from_the_balance(balance, drawn, assumed):
    assert balance.drawn_prior(PRIOR).tolist() == pytest.approx(drawn)
    assert balance.assumed_prior(PRIOR).tolist() == pytest.approx(assumed)


def test_what_training_adds_is_the_log_of_what_is_drawn():
    half = Balance(kind="adjust", power=0.5)
    roots = [math.sqrt(share) for share in PRIOR]
    expected = [math.log(root / sum(roots)) for root in roots]
    assert half.offset(PRIOR).tolist() == pytest.approx(expected)
    assert half.assumed_prior(PRIOR).tolist() == pytest.approx([1 / 3] * 3)
    assert Balance(kind="resample").offset(PRIOR).tolist() == [0, 0, 0]


def test_weights_make_the_prior_of_reweighting():
    labels = [0] * 16 + [1] * 8 + [2]
    shares = torch.tensor([16, 8, 1]) / 25
    balance = Balance(kind="reweight", beta=0.9)
    by_inverse = balance.assumed_prior(shares, weights=class_weights(labels, classes=3))
    assert by_inverse.tolist() == pytest.approx([1 / 3] * 3)
    equal = balance.assumed_prior(shares, weights=torch.ones(3))
    assert equal.tolist() == pytest.approx(shares.tolist())


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"power": 2}, "must lie from 0 "),
        ({"tau": math.inf}, "tau must be a finite number"),
        ({"beta": 1.0}, "beta must lie from 0 to below 1"),
    ],
)
def test_bad_balance_is_refused(options, text):
    with pytest.raises(ValueError, match=text):
        Balance(kind="adjust", **options)
