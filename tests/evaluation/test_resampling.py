"""Replicates and null levels are those of metrics on redrawn examples and labels."""

import math

import numpy as np
import pytest
import torch
from random_predictions import drawn
from scipy.stats import kstest

import oddkout as oko
from oddkout import metrics
from oddkout.evaluation.examples import Examples
from oddkout.evaluation.measured import null_level
from oddkout.evaluation.resampling import CALIBRATION_ERRORS, Resampler
from oddkout.metrics.predictions import read


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def resampler(logits, labels, *, replicates=200, seed=0, bins=15):
    examples = Examples.of(read(logits=logits, labels=labels))
    return Resampler(examples, bins=bins, replicates=replicates, generator=generator(seed))


@pytest.mark.parametrize("name", CALIBRATION_ERRORS)
def test_null_levels_of_all_errors_are_those_of_redrawn_labels(name):
    errors = {
        "ece": metrics.expected_calibration_error,
        "ece_equal_mass": lambda **given: metrics.expected_calibration_error(
            **given, binning="equal-mass"
        ),
        "maximum_ece": metrics.maximum_calibration_error,
        "debiased_ece": metrics.debiased_calibration_error,
        "smooth_ece": metrics.smooth_calibration_error,
        "classwise_ece": metrics.classwise_calibration_error,
        "brier_reliability": lambda **given: metrics.brier_decomposition(**given).reliability,
        "entropy_gap": metrics.entropy_gap,
    }
    logits, labels = drawn(300, 4)
    source = generator(1)
    redrawn = [
        errors[name](
            logits=logits, labels=logits.softmax(dim=1).multinomial(1, generator=source)[:, 0]
        ).item()
        for _ in range(300)
    ]
    null = resampler(logits, labels, replicates=2000).null()[name].double()
    sigma = np.std(redrawn) * math.sqrt(1 / 300 + 1 / 2000)
    assert abs(null.mean().item() - np.mean(redrawn)) < 4 * sigma


def test_replicates_are_the_metrics_of_resampled_examples():
    """Each kind of replicate, against the public metrics on explicitly repeated rows."""
    logits, labels = drawn(60, 4)
    sampler = resampler(logits, labels, replicates=20, bins=5)
    replicates = sampler.bootstrap()
    again = resampler(logits, labels, replicates=20, bins=5)
    weights = torch.from_numpy(np.concatenate(list(again._drawn_weights()), axis=1)).long()
    assert (weights.sum(dim=0) == 60).all()
    for column in range(20):
        rows = torch.arange(60).repeat_interleave(weights[:, column])
        given = {"logits": logits[rows], "labels": labels[rows]}
        parts = metrics.brier_decomposition(**given, bins=5)
        expected = {
            "nll": metrics.negative_log_likelihood(**given),
            "brier": metrics.brier_score(**given),
            "entropy": metrics.entropy(given["logits"]).mean(),
            "relative_cross_entropy": metrics.relative_cross_entropy(**given).mean(),
            "entropy_gap": metrics.entropy_gap(**given),
            "ece": metrics.expected_calibration_error(**given, bins=5),
            "maximum_ece": metrics.maximum_calibration_error(**given, bins=5),
            "smooth_ece": metrics.smooth_calibration_error(**given),
            "classwise_ece": metrics.classwise_calibration_error(**given, bins=5),
            "brier_uncertainty": parts.uncertainty,
            "brier_resolution": parts.resolution,
            "brier_reliability": parts.reliability,
            "correctness_auroc": metrics.correctness_auroc(**given),
            "risk_coverage_area": metrics.risk_coverage(**given).area,
        }
        for name, value in expected.items():
            assert replicates[name][column].item() == pytest.approx(value.item(), abs=2e-4), name


def test_p_values_are_uniform_for_calibrated_models_and_small_under_temperature_2():
    p_values, p_values_hot = [], []
    for seed in range(250):
        logits, labels = drawn(150, 4, seed=seed)
        estimate = metrics.expected_calibration_error(logits=logits, labels=labels).item()
        null = resampler(logits, labels, seed=seed).null()["ece"]
        p_values.append(null_level(estimate, null).p_value)
    assert kstest(p_values, "uniform").pvalue > 0.01
    for seed in range(10):
        logits, labels = drawn(500, 4, seed=seed, temperature=2.0)
        report = oko.evaluate(logits, labels, replicates=200)
        p_values_hot.append(report["ece"].null.p_value)
        assert report.verdict.startswith("evidence of overconfidence")
    assert max(p_values_hot) < 0.01
