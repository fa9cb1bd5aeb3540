"""Columns of any size are standardised."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from oddkout.data.scaling import fitted_scaler


def test_usual_columns_are_scaled_as_scikit_learn_does():
    numbers = np.random.default_rng(0).normal(3, [1, 10, 0], size=(50, 3))
    scaler, expected = fitted_scaler(numbers), StandardScaler().fit(numbers)
    assert np.array_equal(scaler.transform(numbers), expected.transform(numbers))


@pytest.mark.parametrize("size", [1e160, 1e300, 1.7e308])
def test_columns_whose_squares_overflow_are_scaled_to_at_most_1(size):
    numbers = np.random.default_rng(0).normal(size=(30, 2))
    numbers[:3, 1] = size
    scaled = fitted_scaler(numbers).transform(numbers)
    assert np.abs(scaled[:, 1]).max() == pytest.approx(1)
    assert np.isfinite(scaled).all()
