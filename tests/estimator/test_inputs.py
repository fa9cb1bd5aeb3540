"""Inputs of the estimator: arrays, images and frames."""

import re

import numpy as np
import pandas as pd
import pytest
from estimators import quick
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits
from torch import nn

import oddkout as oko


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


def test_missing_cells_dates_truth_values_and_sparse_matrices_are_taken():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(120, 2))
    y = generator.integers(2, size=120)
    x[y == 1, 0] = np.nan  # only the gaps tell the classes apart
    assert quick(max_updates=200).fit(x, y).score(x, y) == 1
    single = quick(method="vanilla", max_updates=200).fit(x, y)
    assert single.score(x, y) == 1
    start = pd.Timestamp("2024-01-01")
    frame = pd.DataFrame({"day": [start + pd.Timedelta(days=100 * int(c)) for c in y]})
    assert quick(max_updates=200).fit(frame, y).score(frame, y) == 1
    frame = pd.DataFrame({"flag": y == 1, "noise": x[:, 1]})
    assert quick(max_updates=200).fit(frame, y).score(frame, y) == 1
    dense = np.where(generator.random((120, 5)) < 0.7, 0.0, 1.0)
    written, sparse = quick().fit(dense, y), quick().fit(csr_matrix(dense), y)
    np.testing.assert_array_equal(
        written.predict_proba(dense), sparse.predict_proba(csr_matrix(dense))
    )


def test_a_saved_table_with_gaps_predicts_the_same(tmp_path):
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(generator.normal(size=(60, 2)), columns=["a", "b"])
    frame.loc[::3, "a"] = np.nan
    y = generator.integers(2, size=60)
    model = quick().fit(frame, y)
    again = oko.Classifier.load(model.classifier_.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda x: x.assign(c=1.0), r"columns \[c\] are constant and are not used"),
        (lambda x: x.assign(c=np.nan), r"columns \[c\] have no known cell and are not used"),
        (lambda x: x.assign(c=[1, "a", 2.5] * 20), r"\[c\] mix numbers and words .* categories"),
        (
            lambda x: x.assign(a=x["a"].where(x.index > 0, 1e30)),
            r"\[a\] hold cells more than a mil",
        ),
    ],
)
def test_odd_columns_are_noted(change, note):
    generator = np.random.default_rng(2)
    frame = pd.DataFrame(generator.normal(size=(60, 2)), columns=["a", "b"])
    y = (frame["b"] > 0).astype(int)
    model = quick(max_updates=100).fit(change(frame), y)
    assert re.search(note, model.notes_[0])
    assert np.isfinite(model.predict_proba(change(frame))).all()
    assert model.score(change(frame), y) > 0.8


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_cells_beyond_all_measure_are_learned_from_but_not_predicted_on(kind):
    x = np.random.default_rng(3).normal(size=(30, 3))
    y = (x[:, 0] > 0).astype(int)
    far = x.copy()
    far[0, 1], far[1, 2] = 1e300, -1e30
    model = quick(max_updates=5).fit(kind(far), y)
    assert np.isfinite(model.predict_proba(kind(far))).all()
    model = quick(max_updates=5).fit(kind(x), y)
    with pytest.raises(ValueError, match=r"those at \[0, 1\] \(from 0\) hold NaN, infinity or"):
        model.predict_proba(kind(far))


def test_columns_that_cannot_be_are_refused():
    x, y = np.random.default_rng(3).normal(size=(30, 3)), [0, 1] * 15
    with pytest.raises(ValueError, match="every cell is missing"):
        quick().fit(np.full_like(x, np.nan), y)
    with pytest.raises(ValueError, match="infinity"):
        quick().fit(np.where(x > 1, np.inf, x), y)
    mixed = x.astype(object)
    mixed[4, 1] = "red"
    with pytest.raises(ValueError, match="column 1 holds 'red'; pass a data frame"):
        quick().fit(mixed, y)
    model = quick().fit(x, y)
    with pytest.raises(ValueError, match="X has 2 features, but OddKOutClassifier is expecting 3"):
        model.predict(x[:, :2])
    model = quick().fit(pd.DataFrame(x, columns=list("abc")), y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(x, columns=list("abd")))
    with pytest.raises(ValueError, match=r"name every column once, but \[a\] occur more than once"):
        quick().fit(pd.DataFrame(x, columns=list("aba")), y)
    huge = csr_matrix((10**6, 10**4))
    with pytest.raises(ValueError, match="must fit into 4 GB, got 1000000 x 10000 cells"):
        quick().fit(huge, np.arange(10**6) % 2)
