"""Pooled predictions of several seeds, with the intervals of one seed."""

import statistics

import numpy as np
import pytest
import torch
from synthetic import CLASSES, synthetic_run, with_seed

import oddkout as oko
from oddkout.report.pooling import (
    mean_risk_coverage,
    pooled_classes,
    pooled_reliability,
    rare_classes,
)


def test_pooled_points_are_those_of_all_predictions_with_intervals_of_one_seed():
    runs = [synthetic_run(with_seed(seed)) for seed in range(3)]
    curves = [oko.metrics.reliability_curve(logits=run.logits, labels=run.labels, bins=10)
              for run in runs]  # fmt: skip
    pooled = pooled_reliability(curves)
    together = oko.metrics.reliability_curve(
        logits=np.concatenate([run.logits for run in runs]),
        labels=np.concatenate([run.labels for run in runs]),
        bins=10,
    )
    for name in ("low_edge", "high_edge", "count", "confidence", "accuracy"):
        np.testing.assert_allclose(getattr(pooled, name), getattr(together, name), rtol=1e-6)
    widths = [curve.accuracy_high - curve.accuracy_low for curve in (pooled, together)]
    assert (widths[0] >= widths[1]).all()
    assert (widths[0] > 1.5 * widths[1])[together.count > 20].all()
    # Three times the same seed is that seed, intervals and bands included.
    same = pooled_reliability([curves[0]] * 3)
    for name in ("accuracy_low", "accuracy_high", "null_low", "null_high", "error"):
        np.testing.assert_allclose(getattr(same, name), getattr(curves[0], name), rtol=1e-6)


def test_the_mean_risk_ends_at_the_mean_error():
    runs = [synthetic_run(with_seed(seed)) for seed in range(3)]
    curves = [oko.metrics.risk_coverage(logits=run.logits, labels=run.labels) for run in runs]
    mean = mean_risk_coverage(curves)
    errors = [(run.logits.argmax(1) != run.labels).mean() for run in runs]
    assert mean.risk[-1].item() == pytest.approx(statistics.mean(errors))
    assert mean.coverage[49].item() == pytest.approx(0.5)


def test_a_rare_class_is_measured_in_the_seeds_in_which_it_is_rare():
    runs = [synthetic_run(with_seed(seed)) for seed in range(3)]
    runs[2].train_counts = runs[2].train_counts[::-1]
    assert [rare_classes(run) for run in runs] == [[0], [0], [3]]
    results, has_rare = pooled_classes(runs, is_tempered=False)
    assert has_rare
    assert [result.name for result in results] == [CLASSES[0], CLASSES[3]]
    calls = [(run.logits.argmax(1) == 0) for run in runs[:2]]
    right = sum((call & (run.labels == 0)).sum() for call, run in zip(calls, runs, strict=False))
    assert results[0].precision.value == pytest.approx(right / sum(map(sum, calls)))
    probs = [torch.from_numpy(run.logits).softmax(1).amax(1).numpy() for run in runs[:2]]
    said = np.concatenate([prob[call] for prob, call in zip(probs, calls, strict=True)])
    assert results[0].confidence == pytest.approx(said.mean(), rel=1e-5)
    for run in runs:
        run.train_counts = [10, 11, 12, 13]
    assert len(pooled_classes(runs, is_tempered=False)[0]) == 4
