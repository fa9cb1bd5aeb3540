"""Means of runs: weighted to requested class frequencies, with the variance of strata."""

from dataclasses import replace

import numpy as np
import pytest
from grids import SMALL

from oddkout.comparing.differences import mean_of_runs
from oddkout.comparing.example_values import example_values
from oddkout.comparing.run import Run


def run_with(labels, probs, population):
    """A run with these predictions."""
    logits = np.log(probs).astype(np.float32)
    measured = {"nll": {"value": 0.0}}
    return Run(
        config=replace(SMALL, population=population),
        labels=labels,
        logits=logits,
        calibrated_logits=logits,
        as_trained=measured,
        tempered=measured,
        train_counts=[10, 10],
    )


def predicted(labels, rng):
    """Probabilities of two classes, better for the first."""
    right = np.where(labels == 0, rng.uniform(0.6, 0.99, len(labels)), rng.uniform(0.2, 0.9))
    probs = np.stack([right, 1 - right], axis=1)
    return np.where(labels[:, None] == 0, probs, probs[:, ::-1])


def test_the_variance_is_that_of_strata_with_given_frequencies():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [40, 10])
    run = run_with(labels, predicted(labels, rng), (0.5, 0.5))
    values = example_values(replace(run, config=SMALL), "nll", is_tempered=True)
    weighted = example_values(run, "nll", is_tempered=True)
    parts = [values[labels == label] for label in (0, 1)]
    assert weighted.mean() == pytest.approx(np.mean([part.mean() for part in parts]))
    expected = sum(0.25 * part.var(ddof=1) / len(part) for part in parts)
    found = ((weighted - weighted.mean()) ** 2).sum() / len(values) ** 2
    assert found == pytest.approx(expected)


def test_weighted_intervals_cover_the_truth():
    """Two classes 1 : 1 in the test part, judged for 9 : 1, in 200 simulations."""
    rng = np.random.default_rng(1)
    prior = (0.9, 0.1)

    def losses(labels, rng):
        x = rng.normal(size=len(labels)) + 1.5 * labels
        odds = np.exp(1.5 * x - 1.125) / 9
        ill = odds / (1 + odds)
        return np.stack([1 - ill, ill], axis=1)

    hidden = rng.choice(2, size=400_000, p=prior)
    probs = losses(hidden, rng)
    truth = -np.log(probs[np.arange(len(hidden)), hidden]).mean()
    covered = 0
    for _ in range(200):
        labels = np.repeat([0, 1], 60)
        run = run_with(labels, losses(labels, rng), prior)
        limits = mean_of_runs([run], "nll", is_tempered=True)
        covered += limits.low <= truth <= limits.high
    assert 180 <= covered <= 199
