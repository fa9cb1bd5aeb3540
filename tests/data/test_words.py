"""Words of text are hashed: they tell classes apart, and none of them is kept."""

import json

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from oddkout import load_data
from oddkout.data.words import WORD_FEATURES, hashed_words


def notes(rows, *, seed=0):
    """Notes of eight common words; one of two others tells the class."""
    rng = np.random.default_rng(seed)
    common = [f"word{i}" for i in range(200)]
    y = rng.integers(0, 2, rows)
    texts = [" ".join([*rng.choice(common, 8), ("fever", "rash")[label]]) for label in y]
    return pd.DataFrame({"note": texts, "y": y})


def test_text_tells_what_it_says():
    data = load_data(notes(600), target="y", text=["note"])
    model = LogisticRegression(C=0.01).fit(data.x_train, data.y_train)
    assert model.score(data.x_test, data.y_test) > 0.9


def test_rows_have_the_scale_of_other_features():
    rows = hashed_words(notes(50)["note"])
    assert rows.shape == (50, WORD_FEATURES)
    np.testing.assert_allclose((rows**2).mean(axis=1), 1, rtol=1e-5)


def test_no_word_is_kept():
    data = load_data(notes(100), target="y", text=["note"])
    state = json.dumps(data.encoder.to_dict())
    assert "fever" not in state
    assert "word1" not in state
