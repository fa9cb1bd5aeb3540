"""Isotonic calibration is that of scikit-learn."""

import numpy as np
from random_predictions import sharp
from sklearn.isotonic import IsotonicRegression

from oddkout.calibrators import (
    IsotonicCalibration,
)


def test_isotonic_calibration_is_that_of_scikit_learn():
    logits, labels = sharp(600, 3, temperature=2.0)
    fresh, _ = sharp(200, 3, seed=1)
    found = IsotonicCalibration().fit(logits, labels).predict_proba(fresh.numpy())
    columns = []
    for column in range(3):
        curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        curve.fit(logits.softmax(dim=1)[:, column].numpy(), (labels == column).double().numpy())
        columns.append(curve.predict(fresh.softmax(dim=1)[:, column].numpy()))
    expected = np.stack(columns, axis=1).clip(1e-6)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=1e-9)
