"""Mixtures of views: the formula by hand, and weights that maximise the likelihood."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from oddkout.mixture import Mixture, View, mixture_weights
from oddkout.prior import PriorLedger

TRAIN = (0.6, 0.3, 0.1)
EQUAL = (1 / 3,) * 3


def ledger(**options):
    return PriorLedger(**{"assumed": TRAIN, "stated": EQUAL, "train": TRAIN} | options)


def view(weight=0.5, members=1, **options):
    return View(method="m", network="n", ledger=ledger(**options), members=members, weight=weight)


def test_probabilities_of_members_and_views_are_averaged():
    """By hand, in probabilities: calibrate, average members, sharpen, average views, sharpen."""
    logits = torch.randn(4, 3, 3, generator=torch.Generator().manual_seed(0)).double()
    mixture = Mixture(
        views=(view(0.3, temperature=2.0), view(0.7, members=2, strength=0.5, exponent=1.2)),
        exponent=1.5,
    )
    log_train = torch.tensor(TRAIN).double().log()
    first = (logits[:, 0] / 2 - log_train).softmax(dim=1)
    second = (logits[:, 1:] - 1.5 * log_train).softmax(dim=2).mean(dim=1) ** 1.2
    second = second / second.sum(dim=1, keepdim=True)
    expected = (0.3 * first + 0.7 * second) ** 1.5
    expected = expected / expected.sum(dim=1, keepdim=True)
    torch.testing.assert_close(mixture.combined(logits).softmax(dim=1), expected)
    moved = expected * torch.tensor(TRAIN).double()
    torch.testing.assert_close(
        mixture.combined(logits, prior=TRAIN).softmax(dim=1), moved / moved.sum(dim=1, keepdim=True)
    )
    assert mixture.members == 3
    assert mixture.temperature == pytest.approx(0.3 * 2 + 0.7)


def test_a_single_view_is_its_ledger():
    logits = torch.randn(4, 3)
    only = view(1.0, temperature=2.0)
    assert torch.equal(Mixture(views=(only,)).combined(logits), only.ledger.combined(logits))


@pytest.mark.parametrize(
    ("views", "exponent", "text"),
    [
        ((view(0.5), view(0.6)), 1.0, "must sum to 1, got"),
        ((view(-0.5), view(1.5)), 1.0, "must sum to 1, got"),
        ((), 1.0, "must sum to 1, got"),
        ((view(0.5), view(0.5, stated=TRAIN)), 1.0, "the same class frequencies"),
        ((view(0.5), view(0.5)), 0.0, "exponent must be a positive number, got 0.0"),
    ],
)
def test_impossible_mixtures_are_refused(views, exponent, text):
    with pytest.raises(ValueError, match=text):
        Mixture(views=views, exponent=exponent)


def test_weights_maximise_the_penalised_likelihood():
    """Against a direct search: pseudo-examples are 20 examples that tell nothing of the weights.

    EM with pseudo-counts maximises the log-likelihood plus the log of a Dirichlet density.
    """
    rng = np.random.default_rng(0)
    probs = torch.from_numpy(rng.beta([3.0, 2.0], [1.0, 2.0], size=(300, 2)))
    importance = torch.from_numpy(rng.dirichlet(np.full(300, 5.0)))
    found = mixture_weights(probs, importance=importance)

    def objective(weight):
        weights = torch.tensor([weight, 1 - weight]).double()
        data = importance @ (probs @ weights).log()
        return -(300 * data + 10 * weights.log().sum()).item()

    best = minimize_scalar(
        objective, bounds=(0.001, 0.999), method="bounded", options={"xatol": 1e-9}
    )
    assert found[0] == pytest.approx(best.x, abs=1e-4)
    assert sum(found) == pytest.approx(1)


def test_equal_views_keep_equal_weights_and_a_useless_one_loses():
    probs = torch.rand(50, 1).repeat(1, 3)
    share = torch.full((50,), 1 / 50)
    assert mixture_weights(probs, importance=share) == pytest.approx((1 / 3,) * 3)
    worse = torch.cat([probs, probs * 1e-3], dim=1)
    *_, last = mixture_weights(worse, importance=share)
    assert last == pytest.approx(20 / 70 / 6, rel=0.05), "pseudo-examples alone"


def test_members_of_a_fold_predict_together_without_the_others():
    """By hand: the networks of fold k of each view, calibrated, averaged by weight, sharpened."""
    logits = torch.randn(5, 4, 3, generator=torch.Generator().manual_seed(0)).double()
    first, second = view(0.7, 2, temperature=2.0), view(0.3, 2, exponent=1.3)
    given = Mixture(views=(first, second), exponent=1.2).by_member(logits).softmax(dim=2)
    for fold in range(2):
        probs = [
            one.ledger.logits(logits[:, place + fold]).softmax(dim=1)
            for one, place in ((first, 0), (second, 2))
        ]
        expected = (0.7 * probs[0] + 0.3 * probs[1]) ** 1.2
        expected = expected / expected.sum(dim=1, keepdim=True)
        torch.testing.assert_close(given[:, fold], expected)
    with pytest.raises(ValueError, match="as many members, one per fold"):
        Mixture(views=(first, view(0.3, 1))).by_member(logits[:, :3])
