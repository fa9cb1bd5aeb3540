"""A known or estimated prior makes a balanced model calibrated on imbalanced data."""

import numpy as np
import pytest
import torch
from random_predictions import sharp

import oddkout as oko
from oddkout.calibrators import (
    PriorCorrection,
)


def balanced_model(examples, prior, *, seed=0):
    """Exact logits of a model for equal frequencies, and data of other frequencies."""
    source = torch.Generator().manual_seed(seed)
    labels = torch.tensor(prior).multinomial(examples, replacement=True, generator=source)
    means = torch.tensor([[0.0, 0.0], [1.5, 0.0], [0.0, 1.0], [-0.5, -1.0]])[: len(prior)]
    x = means[labels] + torch.randn(examples, 2, generator=source)
    return x @ means.T - (means**2).sum(dim=1) / 2, labels


def test_prior_correction_makes_a_balanced_model_calibrated_on_imbalanced_data():
    prior = [0.7, 0.2, 0.06, 0.04]
    logits, labels = balanced_model(4000, prior)
    before = oko.evaluate(logits, labels, replicates=300)
    assert before["ece"].null.p_value < 0.01
    known = oko.evaluate(PriorCorrection(prior)(logits), labels, replicates=300)
    assert known["ece"].null.p_value > 0.05
    assert known["classwise_ece"].null.p_value > 0.05
    assert known["nll"].high < before["nll"].low

    unlabelled, _ = balanced_model(4000, prior, seed=1)
    estimated = PriorCorrection().fit(unlabelled)
    assert estimated.prior.tolist() == pytest.approx(prior, abs=0.03)
    unknown = oko.evaluate(estimated(logits), labels, replicates=300)
    assert unknown["ece"].null.p_value > 0.05
    found = [report["ece"].null.p_value for report in (before, known, unknown)]
    print(f"p of ECE before, with the known prior, with the estimated one: {found}")


def test_the_estimated_prior_has_the_highest_likelihood():
    """At a maximum the mean prediction under the prior is the prior itself."""
    logits, _ = balanced_model(500, [0.5, 0.3, 0.2])
    calibrator = PriorCorrection(train_prior=[0.2, 0.3, 0.5]).fit(logits)
    mean = calibrator.predict_proba(logits).double().mean(dim=0)
    torch.testing.assert_close(mean, calibrator.prior, atol=1e-6, rtol=0)


def test_a_correction_there_and_back_changes_nothing():
    logits, _ = sharp(20, 3)
    there = PriorCorrection([0.5, 0.3, 0.2], train_prior=[0.1, 0.1, 0.8])
    back = PriorCorrection([0.1, 0.1, 0.8], train_prior=[0.5, 0.3, 0.2])
    torch.testing.assert_close(back(there(logits)), logits)
    counted = PriorCorrection().fit(logits, [0] * 17 + [1, 1, 2])
    assert counted.prior.tolist() == pytest.approx([18 / 23, 3 / 23, 2 / 23])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: PriorCorrection([0.5, 0.6]), r"sum to 1, got \[0.5, 0.6\]"),
        (lambda: PriorCorrection([1.0, 0.0]), "must be positive"),
        (lambda: PriorCorrection([[1.0]]), r"got shape \(1, 1\)"),
        (lambda: PriorCorrection([0.5, 0.5], train_prior=[0.2, 0.3, 0.5]), "got 2 and 3"),
        (lambda: PriorCorrection([0.5, 0.5])(torch.zeros(2, 3)), "one frequency per class, 3, got"),
        (
            lambda: PriorCorrection(train_prior=[0.5, 0.5]).fit(np.zeros((2, 3))),
            "train_prior must hold one frequency per class, 3, got 2",
        ),
    ],
)
def test_bad_input_gets_one_sentence(call, text):
    with pytest.raises(ValueError, match=text) as raised:
        call()
    assert "\n" not in str(raised.value)
