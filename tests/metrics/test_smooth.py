"""The smooth calibration error is that of relplot, and the integral that defines it."""

import math

import numpy as np
import pytest
from random_predictions import overconfident

from oddkout import metrics


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("temperature", [0.8, 1.0, 3.0])
def test_smooth_error_agrees_with_relplot(seed, temperature):
    """Relplot cuts the Gaussian off at 1/2, so that errors above 0.2 are another matter."""
    import relplot

    logits, labels = overconfident(examples=800, seed=seed)
    probs = (logits / temperature).softmax(dim=1)
    hits = (probs.argmax(dim=1) == labels).double().numpy()
    confidence = probs.amax(dim=1).numpy()
    found = metrics.smooth_calibration_error(probs, labels).item()
    theirs, width = relplot.smECE(confidence, hits, return_width=True)
    assert found == pytest.approx(theirs, abs=1e-3)
    assert found == pytest.approx(width, abs=2e-3), "the bandwidth is the error itself"


@pytest.mark.parametrize("temperature", [0.2, 0.5, 1.0, 1.7])
def test_smooth_error_is_the_integral_of_smoothed_gaps(temperature):
    """The definition, with reflected images of the Gaussian added up one by one."""
    logits, labels = overconfident(examples=200)
    probs = (logits / temperature).softmax(dim=1)
    confidence = probs.amax(dim=1).numpy()
    gap = confidence - (probs.argmax(dim=1) == labels).double().numpy()
    found = metrics.smooth_calibration_error(probs, labels).item()
    grid = (np.arange(4000) + 0.5) / 4000
    images = [confidence + 2 * k for k in range(-2, 3)] + [2 * k - confidence for k in range(-2, 3)]
    kernel = sum(np.exp(-(((grid[:, None] - image) / found) ** 2) / 2) for image in images)
    smoothed = kernel @ gap / (found * math.sqrt(2 * math.pi) * len(gap))
    assert np.abs(smoothed).mean() == pytest.approx(found, abs=5e-4)
