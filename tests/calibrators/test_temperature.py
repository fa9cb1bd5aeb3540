"""A planted temperature is recovered, and a fit never does harm."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from random_predictions import sharp

from oddkout.calibrators import (
    TemperatureScaling,
)


@pytest.mark.parametrize(("planted", "seed"), [(0.5, 0), (2.5, 1)])
def test_a_planted_temperature_is_recovered_within_one_percent(planted, seed):
    """One likely class against six hundred unlikely ones: there 1 % is three standard errors."""
    source = torch.Generator().manual_seed(seed)
    logits = 0.3 * torch.randn(10_000, 600, generator=source, dtype=torch.float64)
    logits[:, 0] += math.log(600)
    labels = logits.softmax(dim=1).multinomial(1, generator=source)[:, 0]
    assert standard_error(logits) < 0.01 / 3
    found = TemperatureScaling().fit(planted * logits, labels).temperature.item()
    assert found == pytest.approx(planted, rel=0.01)


@pytest.mark.parametrize("classes", [2, 10, 100])
@pytest.mark.parametrize("seed", range(5))
def test_the_error_of_a_fitted_temperature_is_what_the_examples_allow(classes, seed):
    """With ordinary logits no estimator is sure of 1 %: the standard error is 0.6 to 2 %."""
    logits, labels = sharp(10_000, classes, seed=seed)
    found = TemperatureScaling().fit(logits, labels).temperature.item()
    assert abs(found - 1) < 4 * standard_error(logits)


def standard_error(logits):
    """Of a fitted temperature near 1, from the curvature of the likelihood."""
    probs = logits.softmax(dim=1)
    mean = (probs * logits).sum(dim=1, keepdim=True)
    variance = (probs * (logits - mean) ** 2).sum(dim=1).mean().item()
    return 1 / math.sqrt(len(logits) * variance)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("examples", [10, 50, 1000])
def test_the_fit_is_the_minimum_and_never_worse_than_no_fit(seed, examples):
    logits, labels = sharp(examples, 3, seed=seed, temperature=1.0 + seed / 5)
    calibrator = TemperatureScaling().fit(logits, labels)
    fitted = F.cross_entropy(calibrator(logits), labels).item()
    assert fitted <= F.cross_entropy(logits, labels).item() + 1e-15
    if not (logits.argmax(dim=1) == labels).all():
        for factor in (0.999, 1.001):
            near = F.cross_entropy(calibrator(logits) * factor, labels).item()
            assert fitted < near
        # A zero of the derivative: mean logit under the model equals mean logit of the truth.
        scaled = calibrator(logits)
        expected = (scaled.softmax(dim=1) * scaled).sum(dim=1).mean()
        found = scaled.gather(1, labels[:, None]).mean()
        assert expected.item() == pytest.approx(found.item(), abs=1e-9)


@pytest.mark.parametrize("scale", [1e-2, 1.0, 30.0])
def test_the_predicted_class_is_untouched(scale):
    logits, labels = sharp(500, temperature=2.0)
    calibrator = TemperatureScaling().fit(scale * logits, labels)
    assert torch.equal(calibrator(logits).argmax(dim=1), logits.argmax(dim=1))


def test_separable_data_stop_at_what_they_support():
    """Ten of ten right support a confidence of 11/12 and no more."""
    logits = torch.tensor([[1.0, 0.0]], dtype=torch.float64).expand(10, 2)
    calibrator = TemperatureScaling().fit(logits, [0] * 10)
    assert calibrator(logits).softmax(dim=1)[0, 0].item() == pytest.approx(11 / 12)
    sure = TemperatureScaling().fit(100 * logits, [0] * 10)
    assert sure.temperature.item() == 1.0, "a model that is surer already is left as it is"
    perfect, _ = sharp(200)
    fit = TemperatureScaling().fit(perfect, perfect.argmax(dim=1))
    assert fit.temperature.item() <= 1
    assert fit(perfect).softmax(dim=1).amax(dim=1).mean().item() <= 201 / 202 + 1e-9


def test_worse_than_guessing_becomes_guessing():
    logits, _ = sharp(200, 3)
    calibrator = TemperatureScaling().fit(logits, logits.argmin(dim=1))
    assert calibrator.temperature.item() == pytest.approx(1e3)
    almost = torch.tensor([[1e-6, 0.0]] * 99 + [[0.0, 1e-6]], dtype=torch.float64)
    assert TemperatureScaling().fit(almost, [0] * 100).temperature.item() == pytest.approx(1e-3)


def test_balanced_fitting_is_fitting_to_examples_repeated_until_classes_are_equal():
    logits = 3 * torch.randn(30, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0] * 20 + [1] * 5 + [2] * 5)
    repeated = torch.cat([torch.arange(20), torch.arange(20, 30).repeat(4)])
    expected = TemperatureScaling().fit(logits[repeated], labels[repeated]).temperature
    found = TemperatureScaling().fit(logits, labels, is_balanced=True).temperature
    assert found.item() == pytest.approx(expected.item(), rel=1e-9)
    assert found.item() != pytest.approx(TemperatureScaling().fit(logits, labels).temperature)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: TemperatureScaling(0), "temperature must be a positive number, got 0"),
        (lambda: TemperatureScaling(float("inf")), "positive number, got inf"),
        (lambda: TemperatureScaling().fit([[0.0, 1.0]], [2]), "example 0 has label 2"),
        (lambda: TemperatureScaling().fit([[0.0, np.nan]], [1]), r"rows \[0\] hold NaN"),
        (lambda: TemperatureScaling().predict_proba([[0.0]]), "at least 2 classes, got 1"),
    ],
)
def test_bad_input_gets_one_sentence(call, text):
    with pytest.raises(ValueError, match=text) as raised:
        call()
    assert "\n" not in str(raised.value)
