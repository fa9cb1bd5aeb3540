"""With known class conditionals, which posterior does each way to balance find?

Features take few values, and the model has a free logit for each value and class, so that it can
represent every posterior. Expected losses are enumerated: data without end.
"""

import pytest
import torch
from torch import nn

import oddkout as oko
from oddkout.balance import Balance
from oddkout.fitting.methods import METHODS
from oddkout.fitting.objective import balance_weights
from oddkout.fitting.pipeline import fit_network
from oddkout.fitting.preparation import Prepared, Standardisation
from oddkout.fitting.recipe import Recipe
from oddkout.prior import PriorLedger, uniform

VALUES, CLASSES = 12, 4
PRIOR = torch.tensor([0.6, 0.25, 0.1, 0.05], dtype=torch.float64)
COUNTS = [600, 250, 100, 50]
EQUAL = uniform(CLASSES)


def conditionals():
    """p(x | c), positive everywhere."""
    raw = torch.rand(CLASSES, VALUES, generator=torch.Generator().manual_seed(0)).double()
    return (raw + 0.05) / (raw + 0.05).sum(dim=1, keepdim=True)


def posterior(prior):
    """p(c | x) if classes have these frequencies."""
    joint = torch.as_tensor(prior).double()[:, None] * conditionals()
    return (joint / joint.sum(dim=0)).T


def minimiser(loss):
    """Logits that minimise the expected loss over the joint distribution of x and c."""
    x, c = torch.cartesian_prod(torch.arange(VALUES), torch.arange(CLASSES)).unbind(dim=1)
    share = (PRIOR[:, None] * conditionals())[c, x]
    logits = torch.zeros(VALUES, CLASSES, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS(
        [logits], max_iter=2000, tolerance_grad=1e-12, tolerance_change=0,
        line_search_fn="strong_wolfe",
    )  # fmt: skip

    def expected():
        optimiser.zero_grad()
        value = share @ loss(logits[x], c)
        value.backward()
        return value

    optimiser.step(expected)
    return logits.detach()


LABELS = torch.arange(CLASSES).repeat_interleave(torch.tensor(COUNTS))
WEIGHTED = {
    "weighted": oko.class_weights(LABELS, classes=CLASSES),
    "cb": oko.effective_number_weights(LABELS, classes=CLASSES),
}


@pytest.mark.parametrize("tau", [0.0, 0.5, 1.0])
def test_adjustment_finds_the_posterior_of_the_adjusted_prior(tau):
    """Tau = 1: of equal classes. The ledger converts any other."""
    balance = Balance(kind="adjust", power=1, tau=tau)
    logits = minimiser(
        lambda z, c: oko.logit_adjusted_cross_entropy(z, c, prior=PRIOR, tau=tau, reduction="none")
    )
    assumed = balance.assumed_prior(PRIOR)
    torch.testing.assert_close(logits.softmax(dim=1), posterior(assumed), atol=1e-6, rtol=0)
    ledger = PriorLedger(assumed=tuple(assumed.tolist()), stated=EQUAL, train=tuple(PRIOR.tolist()))
    found = ledger.logits(logits).softmax(dim=1)
    torch.testing.assert_close(found, posterior(EQUAL), atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_find_the_same_balanced_posterior(name):
    weight = WEIGHTED[name]
    logits = minimiser(
        lambda z, c: oko.weighted_cross_entropy(z, c, weight=weight, reduction="none")
    )
    assumed = METHODS[name].balance.assumed_prior(
        PRIOR, weights=balance_weights(METHODS[name], LABELS, classes=CLASSES)
    )
    ledger = PriorLedger(assumed=tuple(assumed.tolist()), stated=EQUAL, train=tuple(PRIOR.tolist()))
    found = ledger.logits(logits).softmax(dim=1)
    torch.testing.assert_close(found, posterior(EQUAL), atol=1e-6, rtol=0)


def test_label_smoothing_finds_the_smoothed_posterior_of_equal_classes_only_approximately():
    """What the documentation says: smoothing happens before the prior is taken off."""
    smoothing = 0.1
    logits = minimiser(
        lambda z, c: oko.logit_adjusted_cross_entropy(
            z, c, prior=PRIOR, smoothing=smoothing, reduction="none"
        )
    )
    smoothed = (1 - smoothing) * posterior(PRIOR) + smoothing / CLASSES
    expected = smoothed / PRIOR
    expected = expected / expected.sum(dim=1, keepdim=True)
    torch.testing.assert_close(logits.softmax(dim=1), expected, atol=1e-6, rtol=0)
    assert (logits.softmax(dim=1) - posterior(EQUAL)).abs().max() > 0.1, "rare classes gain"


def test_margins_find_no_posterior():
    """What the documentation says: a margin changes the minimiser beyond any prior.

    Were it a posterior for another prior, log odds of two classes would differ from the true
    ones by the same amount for all x.
    """
    logits = minimiser(lambda z, c: oko.ldam_loss(z, c, counts=COUNTS, scale=1.0, reduction="none"))
    true = posterior(PRIOR).log()
    gap = (logits[:, 0] - logits[:, 3]) - (true[:, 0] - true[:, 3])
    assert gap.max() - gap.min() > 0.1


@pytest.mark.parametrize("method", ["weighted", "cb", "vanilla+la", "bb", "pair"])
def test_training_finds_the_balanced_posterior_of_its_sample(method):
    """The training loop itself, on 20,000 draws; the truth of the sample is known by counting.

    The tolerance is four standard errors of a mean over the examples of the last updates.
    """
    source = torch.Generator().manual_seed(1)
    y = torch.multinomial(PRIOR, 20_000, replacement=True, generator=source)
    x = torch.multinomial(conditionals()[y], 1, generator=source)[:, 0]
    counts = torch.zeros(CLASSES, VALUES).index_put_((y, x), torch.ones(len(y)), accumulate=True)
    shares = counts / counts.sum(dim=1, keepdim=True)
    truth = (shares / shares.sum(dim=0)).T.double()
    data = Prepared(
        x=nn.functional.one_hot(x, VALUES).float(),
        y=y,
        x_test=torch.eye(VALUES),
        y_test=torch.zeros(VALUES, dtype=torch.long),
        classes=tuple("abcd"),
        standardisation=Standardisation(),
    )
    recipe = Recipe(
        model=lambda: nn.Linear(VALUES, CLASSES, bias=False), updates=1500, examples=256, sets=4000,
        learning_rate=2.0, momentum=0.0, weight_decay=0.0, clip_norm=None, averaging=0.5,
    )  # fmt: skip
    fitted = fit_network(
        data, method=METHODS[method], recipe=recipe, choices={}, folds=0, members="single",
        calibration="none", population="train", seed=0,
    )  # fmt: skip
    logits = fitted.as_trained.logits(fitted.model(torch.eye(VALUES)), prior=EQUAL)
    error = (logits.detach().double().softmax(dim=1) - truth).abs().max().item()
    seen = 0.5 * 1500 * 256 * PRIOR.min().item() / VALUES
    assert error < 4 * (0.25 / seen) ** 0.5
