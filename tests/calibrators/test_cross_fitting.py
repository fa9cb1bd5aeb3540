"""Each fold is scaled by the temperature of the others."""

import numpy as np
import pytest
import torch
from random_predictions import sharp

import oddkout as oko
from oddkout.calibrators import (
    TemperatureScaling,
    cross_fitted_temperature,
    fold_numbers,
)


def test_cross_fitting_scales_each_fold_by_the_others():
    logits, labels = sharp(600, 4, temperature=1.7)
    folds = fold_numbers(labels, folds=5, generator=torch.Generator().manual_seed(0))
    fit = cross_fitted_temperature(logits, labels, folds=folds)
    for fold in range(5):
        own = folds == fold
        others = TemperatureScaling().fit(logits[~own], labels[~own]).temperature
        assert fit.by_fold[fold].temperature == others
        torch.testing.assert_close(fit.logits[own], logits[own] / others)
    assert fit.calibrator.temperature.item() == pytest.approx(1.7, rel=0.15)
    before = oko.metrics.expected_calibration_error(logits=logits, labels=labels)
    after = oko.metrics.expected_calibration_error(logits=fit.logits, labels=labels)
    assert after < before / 2


def test_folds_are_even_and_spread_every_class():
    labels = torch.tensor([0] * 50 + [1] * 7 + [2] * 3)
    folds = fold_numbers(labels, folds=5, generator=torch.Generator().manual_seed(0))
    assert folds.bincount().tolist() == [12] * 5
    assert folds[:50].bincount().tolist() == [10] * 5
    assert folds[50:57].bincount(minlength=5).tolist() in ([2, 2, 1, 1, 1],)
    assert folds[57:].unique().numel() == 3


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: fold_numbers([0, 1], folds=3), "3 folds need at least 3 examples, got 2"),
        (
            lambda: cross_fitted_temperature(np.zeros((3, 2)), [0, 1, 0], folds=[0, 0, 0]),
            "one of at least 2 folds, got 3 numbers of 1 folds",
        ),
    ],
)
def test_bad_input_gets_one_sentence(call, text):
    with pytest.raises(ValueError, match=text) as raised:
        call()
    assert "\n" not in str(raised.value)
