"""Standardisation by the training part, in any unit."""

import statistics

import numpy as np
import pandas as pd
import pytest

from oddkout import Data, OddKOutClassifier, fit
from oddkout.fitting.preparation import Standardisation, prepared

QUICK = {"learning_rates": [0.1], "folds": 2}


def test_arrays_are_standardised_by_the_training_part():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3)) * [1e-8, 1, 1e20] + [0, 5, 1e21]
    y = (x[:, 1] > 5).astype(int)
    classifier = fit((x, y), recipe={"updates": 150}, **QUICK)
    assert classifier.evaluation["accuracy"].value > 0.8
    assert len(classifier.standardisation.mean) == 3
    scaled = fit((x * 7, y), recipe={"updates": 150}, **QUICK)
    np.testing.assert_allclose(scaled.predict_proba(x * 7), classifier.predict_proba(x), atol=1e-5)


def test_columns_are_scaled_by_their_mean_and_deviation():
    x = np.array([[1.0, 5.0, 1e9], [3.0, 5.0, 1e9 + 2]])
    standardisation = Standardisation.of(x, is_encoded=False)
    assert standardisation.mean == (2.0, 5.0, 1e9 + 1)
    assert standardisation.deviation == (1.0, 1.0, 1.0), "the constant column is not scaled"
    assert standardisation(x).tolist() == [[-1, 0, -1], [1, 0, 1]]
    assert Standardisation.of(x, is_encoded=True) == Standardisation()


def test_images_are_scaled_by_channel_and_come_with_channels_first():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (20, 6, 7, 3), dtype=np.uint8)
    scaled = Standardisation.of(images, is_encoded=False)(images)
    assert scaled.shape == (20, 3, 6, 7)
    pixels = images[..., 1].ravel() / 255
    expected = (pixels[:42] - statistics.fmean(pixels)) / statistics.stdev(pixels)
    np.testing.assert_allclose(scaled[0, 1].ravel(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("part", ["training", "test"])
def test_examples_that_are_not_finite_are_refused_before_training(part):
    parts = {"x_train": np.ones((4, 2)), "x_test": np.ones((4, 2))}
    parts["x_train" if part == "training" else "x_test"][2, 1] = np.inf
    y = np.array([0, 1, 0, 1])
    data = Data(name="d", y_train=y, y_test=y, classes=("a", "b"), **parts)
    with pytest.raises(ValueError, match=rf"1 {part} examples hold NaN or infinity, at \[2\]"):
        prepared(data)


def table_with_gaps():
    """Whether a cell is missing says more about the class than the numbers do."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    frame = pd.DataFrame(
        {"a": rng.normal(size=60), "b": rng.normal(size=60), "c": list("xyz") * 20}
    )
    frame.loc[(y == 1) & (rng.random(60) < 0.8), "a"] = np.nan
    return frame, y


def test_fit_and_the_estimator_let_members_encode_missing_numbers():
    frame, y = table_with_gaps()
    fitted = fit((frame, y), method="tables", folds=2, recipe={"updates": 20}, test_size=0, seed=3)
    model = OddKOutClassifier(folds=2, max_updates=20, random_state=3).fit(frame, y)
    assert fitted.mixture.has_gaps
    np.testing.assert_allclose(
        fitted.predict_proba(frame), model.predict_proba(frame), rtol=0, atol=1e-12
    )
