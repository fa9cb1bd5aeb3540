"""Logit adjustment: the formula, its limits, and the balanced posterior it finds."""

import math

import pytest
import torch
import torch.nn.functional as F
from loss_inputs import random_logits

from oddkout import class_frequencies, logit_adjusted_cross_entropy

PRIOR = [0.6, 0.3, 0.1]
LABELS = torch.tensor([0, 2, 1, 1, 0])


@pytest.mark.parametrize("tau", [0.0, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_the_formula_of_the_paper(tau, smoothing):
    """-log(exp(f_y + tau log pi_y) / sum_c exp(f_c + tau log pi_c)), one number at a time."""
    logits = random_logits(5, 3)
    expected = []
    for row, label in zip(logits.tolist(), LABELS.tolist(), strict=True):
        odds = [math.exp(value) * share**tau for value, share in zip(row, PRIOR, strict=True)]
        losses = [-math.log(own / sum(odds)) for own in odds]
        smooth = sum(losses) / 3
        expected.append((1 - smoothing) * losses[label] + smoothing * smooth)
    found = logit_adjusted_cross_entropy(
        logits, LABELS, prior=PRIOR, tau=tau, smoothing=smoothing, reduction="none"
    )
    assert found.tolist() == pytest.approx(expected, rel=1e-12)
    mean = logit_adjusted_cross_entropy(logits, LABELS, prior=PRIOR, tau=tau, smoothing=smoothing)
    assert mean.item() == pytest.approx(sum(expected) / 5, rel=1e-12)


def test_equal_frequencies_or_no_strength_are_plain_cross_entropy():
    logits = random_logits(5, 3)
    plain = F.cross_entropy(logits, LABELS)
    equal = logit_adjusted_cross_entropy(logits, LABELS, prior=[1 / 3] * 3)
    none = logit_adjusted_cross_entropy(logits, LABELS, prior=PRIOR, tau=0)
    torch.testing.assert_close(equal, plain)
    torch.testing.assert_close(none, plain)


def test_gradients_are_those_of_finite_differences():
    logits = random_logits(5, 3).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda z: logit_adjusted_cross_entropy(z, LABELS, prior=PRIOR, smoothing=0.1), logits
    )


@pytest.mark.parametrize("tau", [1.0, 0.4])
def test_the_minimiser_is_the_posterior_for_the_prior_to_the_power_one_minus_tau(tau):
    """Three classes, four values of x with known likelihoods: the expected loss is minimised."""
    likelihood = torch.tensor(
        [[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.4, 0.1]], dtype=torch.float64
    )
    prior = torch.tensor(PRIOR, dtype=torch.float64)
    joint = (prior[:, None] * likelihood).flatten()
    labels, points = torch.arange(3).repeat_interleave(4), torch.arange(4).repeat(3)
    logits = torch.zeros(4, 3, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([logits], max_iter=500, line_search_fn="strong_wolfe",
                                  tolerance_grad=1e-12, tolerance_change=0)  # fmt: skip

    def closure():
        optimiser.zero_grad()
        losses = logit_adjusted_cross_entropy(
            logits[points], labels, prior=PRIOR, tau=tau, reduction="none"
        )
        loss = joint @ losses
        loss.backward()
        return loss

    optimiser.step(closure)
    expected = prior[:, None] ** (1 - tau) * likelihood
    expected = (expected / expected.sum(dim=0)).T
    torch.testing.assert_close(logits.detach().softmax(dim=1), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"prior": [0.5, 0.5, 0.0]}, "prior must be positive and sum to 1"),
        ({"prior": [0.5, 0.5]}, "prior must hold one frequency per class, 3, got 2"),
        ({"prior": [3, 2, 1]}, "divide counts by their sum"),
        ({"prior": PRIOR, "tau": math.nan}, "tau must be finite"),
        ({"prior": PRIOR, "smoothing": 1.0}, "smoothing from 0 to below 1"),
    ],
)
def test_bad_input_is_refused(options, text):
    with pytest.raises(ValueError, match=text):
        logit_adjusted_cross_entropy(random_logits(5, 3), LABELS, **options)


def test_frequencies_of_the_training_labels_are_a_prior():
    labels = torch.tensor([0] * 6 + [1] * 3 + [2])
    prior = class_frequencies(labels)
    loss = logit_adjusted_cross_entropy(torch.zeros(1, 3), torch.tensor([2]), prior=prior)
    assert loss.item() == pytest.approx(math.log(10))
