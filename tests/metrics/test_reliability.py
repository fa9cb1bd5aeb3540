"""The reliability curve has the intervals of SciPy."""

import numpy as np
import pytest
from random_predictions import overconfident

from oddkout import metrics


def test_the_reliability_curve_has_the_intervals_of_scipy():
    from scipy.stats import binomtest

    logits, labels = overconfident(examples=300)
    curve = metrics.reliability_curve(logits=logits, labels=labels)
    for row, count in enumerate(curve.count):
        right = round(curve.accuracy[row] * count)
        expected = binomtest(right, int(count)).proportion_ci(0.95, method="exact")
        found = curve.accuracy_low[row], curve.accuracy_high[row]
        assert found == pytest.approx((expected.low, expected.high), abs=1e-9)
    gap = np.abs(curve.accuracy - curve.confidence)
    assert curve.error == pytest.approx(float((curve.count * gap).sum()) / 300)
    assert (curve.null_low <= curve.confidence + 1 / curve.count).all()
    assert (curve.null_high >= curve.confidence - 1 / curve.count).all()
