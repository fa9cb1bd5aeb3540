"""Inputs of the estimator: arrays, images and frames."""

import numpy as np
import pandas as pd
import pytest
from estimators import quick
from sklearn.datasets import load_digits
from torch import nn


def test_images_of_every_layout_are_taken():
    digits = load_digits()
    images, y = digits.images[:300], digits.target[:300]
    assert quick(max_updates=150).fit(images, y).score(images, y) > 0.9
    coloured = np.repeat(images[..., None], 3, axis=3).astype(np.uint8)
    last = quick().fit(coloured, y)
    first = quick().fit(np.moveaxis(coloured, 3, 1), y)
    np.testing.assert_array_equal(
        last.predict_proba(coloured), first.predict_proba(np.moveaxis(coloured, 3, 1))
    )
    large = np.kron(images[:60], np.ones((2, 2)))
    network = quick(max_updates=3, members="single").fit(large, y[:60]).module_
    assert isinstance(network[0], nn.Conv2d)
    with pytest.raises(ValueError, match=r"shape of the training data, \(8, 8\), got \(8, 7\)"):
        quick(max_updates=1).fit(images, y).predict(images[:, :, :7])


def test_text_columns_of_a_frame_are_encoded():
    colour = np.array(["red", "green", "blue"] * 20)
    frame = pd.DataFrame({"noise": np.random.default_rng(0).normal(size=60), "colour": colour})
    model = quick().fit(frame, colour)
    assert model.score(frame, colour) == 1
    assert model.n_features_in_ == 2
    unseen = pd.DataFrame({"noise": [0.0], "colour": ["violet"]})
    assert model.predict_proba(unseen).shape == (1, 3)
    missing = pd.DataFrame({"noise": [np.nan], "colour": [None]}, dtype=object)
    assert model.predict_proba(missing).shape == (1, 3), "missing cells are imputed"
    with (
        pytest.warns(UserWarning, match="valid feature names"),
        pytest.raises(ValueError, match=r"pass a frame with the columns \[noise, colour\]"),
    ):
        model.predict(np.zeros((1, 2)))
    numbers = quick().fit(frame[["noise"]], colour)
    with pytest.raises(ValueError, match=r"'noise' holds numbers in the training data, but text"):
        numbers.predict(pd.DataFrame({"noise": ["loud"]}))
