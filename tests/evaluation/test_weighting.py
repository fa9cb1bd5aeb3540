"""Metrics for other class frequencies: weighted by hand, and as good as a sample with them."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import oddkout as oko
from oddkout.evaluation.weighting import class_weights_for, evaluate_for_prior, repeated_rows


def sample(count, prior, rng):
    """Two classes, one feature, and the logits of the posterior for the given frequencies."""
    y = rng.choice(2, size=count, p=prior)
    x = rng.normal(size=count) + 1.5 * y
    return x, torch.from_numpy(y)


def posterior(x, prior):
    """Exact logits for class frequencies."""
    slope = 1.5 * x - 1.125 + np.log(prior[1] / prior[0])
    return torch.from_numpy(np.stack([np.zeros_like(slope), slope], axis=1))


def test_weights_give_classes_their_frequencies():
    labels = torch.tensor([0] * 30 + [1] * 7 + [2] * 3)
    prior = [0.2, 0.5, 0.3]
    weights = class_weights_for(labels, prior)
    assert weights.mean().item() == pytest.approx(1)
    sums = [weights[labels == c].sum().item() / 40 for c in range(3)]
    assert sums == pytest.approx(prior)
    rows = repeated_rows(labels, prior)
    shares = labels[rows].bincount() / len(rows)
    np.testing.assert_allclose(shares, prior, rtol=0.02)


def test_a_class_without_examples_leaves_its_frequency_to_the_others():
    weights = class_weights_for(torch.tensor([0, 0, 2]), [0.25, 0.5, 0.25])
    assert weights.tolist() == pytest.approx([0.75, 0.75, 1.5])


def test_metrics_are_weighted_means_and_recall_is_as_before():
    rng = np.random.default_rng(0)
    x, y = sample(200, [0.5, 0.5], rng)
    prior = [0.9, 0.1]
    logits = posterior(x, prior)
    found = evaluate_for_prior(logits, y, prior=prior, replicates=100)
    weights = class_weights_for(y, prior)
    losses = F.cross_entropy(logits, y, reduction="none")
    hits = (logits.argmax(dim=1) == y).double()
    assert found["nll"].value == pytest.approx((weights * losses).mean().item(), rel=0.01)
    assert found["accuracy"].value == pytest.approx((weights * hits).mean().item(), rel=0.01)
    assert int(found.confusion.sum()) == 200
    assert found.notes[0].startswith("metrics are for the requested class frequencies")


def test_an_exact_posterior_is_calibrated_only_if_the_test_examples_are_weighted():
    rng = np.random.default_rng(1)
    x, y = sample(600, [0.5, 0.5], rng)
    logits = posterior(x, [0.95, 0.05])
    plain = oko.evaluate(logits, y, replicates=200)
    weighted = evaluate_for_prior(logits, y, prior=[0.95, 0.05], replicates=200)
    assert plain["ece"].null.is_exceeded
    assert not weighted["ece"].null.is_exceeded


def test_intervals_count_examples_not_copies():
    """NLL of an exact posterior for another prior: covered in at least 95 % of samples.

    The bootstrap lets class sizes vary, which the weights undo. So intervals are rather too wide.
    If copies counted as examples, they would be narrower by a factor of about 3.
    """
    rng = np.random.default_rng(2)
    prior = [0.9, 0.1]
    hidden, labels = sample(200_000, prior, rng)
    truth = F.cross_entropy(posterior(hidden, prior), labels).item()
    covered = 0
    for _ in range(40):
        x, y = sample(120, [0.5, 0.5], rng)
        found = evaluate_for_prior(posterior(x, prior), y, prior=prior, replicates=100, bins=5)
        covered += found["nll"].low <= truth <= found["nll"].high
    assert covered >= 36
