"""Contestants that are not ours get the same folds and the same calibration."""

import numpy as np
import pytest
import torch
from rivals import Constant, signal_table
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

import oddkout as oko
from oddkout.comparing.outsiders import fit_outsider
from oddkout.fitting.folds import assigned_folds, scored_folds
from oddkout.fitting.preparation import prepared
from oddkout.models.foreign import (
    LEAST,
)
from oddkout.prior import PriorLedger


def fitted(estimator, **options):
    data = prepared(oko.load_data(signal_table(), seed=0))
    defaults = {
        "name": "mine", "folds": 3, "calibration": "folds", "population": "train", "seed": 0,
    }  # fmt: skip
    return data, fit_outsider(data, estimator=estimator, **defaults | options)


def test_an_outsider_gets_our_folds_and_our_calibration():
    data, result = fitted(GaussianNB())
    folds = assigned_folds(data.y, folds=3, seed=0)
    x, y = data.x.double().numpy(), data.y.numpy()
    logits = torch.zeros(len(y), 3)
    for fold in range(3):
        held = (folds == fold).numpy()
        model = clone(GaussianNB()).fit(x[~held], y[~held])
        logits[held] = torch.from_numpy(
            np.log(np.maximum(model.predict_proba(x[held]), LEAST))
        ).float()
    prior = tuple(np.bincount(y) / len(y))
    ledger = PriorLedger(assumed=prior, stated=prior, train=prior)
    expected = scored_folds(logits, data.y, folds, ledger=ledger, calibration="folds", judged=None)
    assert result.scores.metrics["nll"] == pytest.approx(expected.metrics["nll"], rel=1e-4)
    assert result.calibrated.temperature == pytest.approx(expected.ledger.temperature, rel=1e-3)


def test_on_benchmarks_outsiders_are_judged_for_equal_classes_too():
    _, result = fitted(GaussianNB(), population="uniform")
    assert result.calibrated.stated == (1 / 3,) * 3
    assert result.ledger.stated == result.ledger.train, "as trained, nothing is corrected"


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ([0.5, 0.4, 0.3], "must sum to 1, got a row with sum 1.2"),
        ([0.5, np.nan, 0.5], "negative or not finite"),
        ([1.5, -0.5, 0.0], "negative or not finite"),
        ([0.5, 0.5], r"of 3 classes, got shape \(\d+, 2\)"),
    ],
)
def test_what_is_not_a_probability_is_refused(row, text):
    with pytest.raises(ValueError, match=text):
        fitted(Constant(row=row))
