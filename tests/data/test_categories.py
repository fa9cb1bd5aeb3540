"""Rare categories are merged, and nothing remembers them."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.preprocessing import OneHotEncoder

from oddkout import load_data
from oddkout.data.categories import kept_categories, one_hot
from oddkout.data.table import TableEncoder

CELLS = np.array(["a"] * 9 + ["b"] * 4 + ["c"] * 3 + ["d"] * 2 + ["e"], dtype=object)


@pytest.mark.parametrize("rare_below", [1, 2, 3, 4, 5])
def test_columns_are_those_of_scikit_learn(rare_below):
    """Which also merges what is rare, but remembers it."""
    kept = kept_categories(CELLS, rare_below=rare_below)
    other = OneHotEncoder(
        min_frequency=rare_below, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    other.fit(CELLS[:, None])
    new = np.array([*CELLS, "new"], dtype=object)
    np.testing.assert_array_equal(one_hot(new, kept), other.transform(new[:, None]))


def test_only_the_most_frequent_are_kept():
    cells = np.repeat([f"{i:03}" for i in range(300)], 4).astype(object)
    cells[-3:] = "000"
    kept = kept_categories(cells, rare_below=3)
    assert len(kept) == 257
    assert (kept[0], kept[-1]) == ("000", "(rare)")


def test_an_encoder_knows_no_rare_category():
    frame = pd.DataFrame({"ward": ["north"] * 20 + ["south"] * 20 + ["secret", "secret", None]})
    encoder = TableEncoder(frame)
    assert encoder.features == ("ward=(missing)", "ward=north", "ward=south", "ward=(rare)")
    state = json.dumps(encoder.to_dict())
    assert "secret" not in state
    again = TableEncoder.from_dict(json.loads(state))
    np.testing.assert_array_equal(again.encode(frame), encoder.encode(frame))
    assert "ward=secret" in TableEncoder(frame, rare_below=2).features


def test_sparse_and_categorical_columns_of_pandas_are_like_others():
    rng = np.random.default_rng(0)
    plain = pd.DataFrame({"u": rng.poisson(0.3, 60), "v": rng.choice(["p", "q", "r"], 60)})
    special = pd.DataFrame(
        {"u": pd.arrays.SparseArray(plain["u"]), "v": pd.Categorical(plain["v"])}
    )
    labels = ["a", "b"] * 30
    expected, data = (load_data((frame, labels)) for frame in (plain, special))
    np.testing.assert_array_equal(data.x_train, expected.x_train)
    numbers = pd.DataFrame({"w": pd.Categorical([1, 2, 3] * 20)})
    assert load_data((numbers, labels)).encoder.features == ("w=1", "w=2", "w=3")


def test_nullable_columns_of_pandas_are_numbers():
    frame = pd.DataFrame({"u": pd.array([1, None, 3, 4], dtype="Int64"),
                          "v": pd.array([True, None, False, True], dtype="boolean")})  # fmt: skip
    np.testing.assert_allclose(
        TableEncoder(frame).encode(frame)[1],
        [0.25 / math.sqrt(4.75 / 4), 1 / math.sqrt(3)],
        rtol=1e-6,
    )


def test_a_sparse_matrix_is_written_out(monkeypatch):
    x, y = np.eye(12)[:, :5], [0, 1] * 6
    expected = load_data((x, y))
    np.testing.assert_array_equal(load_data((csr_matrix(x), y)).x_train, expected.x_train)
    with pytest.raises(ValueError, match=r"up to 300,000,000 cells, got 12 x 100,000,000; select"):
        load_data((csr_matrix((12, 100_000_000)), y))
