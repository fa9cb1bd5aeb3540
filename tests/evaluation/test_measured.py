"""The p-value and the quoted percentile never disagree."""

import numpy as np
import pytest
import torch
from random_predictions import drawn

import oddkout as oko
from oddkout.evaluation.measured import LEVEL, null_level


@pytest.mark.parametrize("replicates", [40, 79, 199, 200, 279, 300, 999, 1000, 1239])
def test_an_estimate_is_significant_if_and_only_if_it_exceeds_the_percentile(replicates):
    rng = np.random.default_rng(replicates)
    draws = torch.from_numpy(rng.random(replicates).round(2)).float()  # many ties
    estimates = np.concatenate([rng.random(100), draws.double().numpy(), [-1.0, 2.0]])
    answers = set()
    for estimate in estimates:
        level = null_level(float(estimate), draws)
        by_hand = (1 + (draws.numpy() >= np.float32(estimate)).sum()) / (1 + replicates)
        assert level.p_value == pytest.approx(by_hand)
        assert level.is_exceeded == (level.p_value <= LEVEL) == (estimate > level.high)
        answers.add(level.is_exceeded)
    assert answers == {True, False}


def test_the_percentile_is_that_of_the_level():
    draws = torch.arange(1.0, 1001)
    assert null_level(0.0, draws).high == pytest.approx(np.quantile(draws, 1 - LEVEL), abs=2)


def test_a_verdict_never_quotes_a_percentile_below_the_error_that_it_calls_chance():
    """Errors near the limit, where the levels of test and percentile used to differ."""
    verdicts = set()
    for seed in range(24):
        logits, labels = drawn(80, 3, seed=seed, temperature=1.35)
        report = oko.evaluate(logits, labels, replicates=60)
        ece = report["ece"]
        kind = report.verdict.split(":")[0]
        verdicts.add(kind)
        if kind == "no evidence of miscalibration":
            assert ece.value <= ece.null.high
            assert f"an ECE up to {ece.null.high:.3g} is within chance" in report.verdict
        elif kind != "evidence of miscalibrated classes, though not of confidence":
            assert ece.value > ece.null.high
    assert {"no evidence of miscalibration", "evidence of overconfidence"} <= verdicts
