"""Labels as positions among class names, and examples as tensors."""

import numpy as np
import pandas as pd
import pytest
from tables import written

from oddkout import Data, as_tensor, load_data
from oddkout.data.arrays import encoded_labels


def test_integer_labels_are_sorted_as_numbers_and_text_is_kept_as_typed(tmp_path):
    rows = "\n".join(f"{i},{[2, 10, 1][i % 3]}" for i in range(12))
    assert load_data(written(tmp_path, f"x,y\n{rows}"), target="y").classes == ("1", "2", "10")
    rows = "\n".join(f"{i},{['02', '1'][i % 2]}" for i in range(12))
    assert load_data(written(tmp_path, f"x,y\n{rows}"), target="y").classes == ("02", "1")


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.array([10, 2, 10], dtype=object), ("2", "10")),
        (np.array(["b", "a", "b"], dtype=object), ("a", "b")),
        (np.array([True, False, True]), ("False", "True")),
        (np.array(["b", 1, "b"], dtype=object), ("1", "b")),
        (pd.Series(["b", "a", "b"], dtype="category"), ("a", "b")),
        (pd.Series([10, 2, 10], dtype="Int64"), ("2", "10")),
    ],
)
def test_integers_are_sorted_as_numbers_and_all_else_as_text(labels, classes):
    positions, names = encoded_labels(labels, name="y")
    assert names == classes
    assert [names[position] for position in positions] == [str(label) for label in labels]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_missing_labels_are_refused_by_position(missing):
    with pytest.raises(ValueError, match=r"examples \[1, 3\] have none; label or drop them"):
        encoded_labels(pd.Series(["a", missing, "b", missing], dtype=object), name="y")


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        ([0.5, 1.5], "integers or text, got float64"),
        ([[0, 1]], r"of shape \(1, 2\)"),
        ([], "got float64 of shape"),
        (np.array([], dtype=int), "at least one example, got none"),
    ],
)
def test_other_labels_are_refused(labels, text):
    with pytest.raises(ValueError, match=text):
        encoded_labels(labels, name="y")


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((5, 3), (5, 3)),
        ((5, 8, 9), (5, 1, 8, 9)),
        ((5, 8, 9, 3), (5, 3, 8, 9)),
        ((5, 3, 8, 9), (5, 3, 8, 9)),
    ],
)
def test_images_come_with_channels_first(shape, expected):
    x = np.arange(np.prod(shape)).reshape(shape)
    tensor = as_tensor(x)
    assert tuple(tensor.shape) == expected
    slow = (
        x[:, None] if x.ndim == 3 else np.moveaxis(x, 3, 1) if shape[-1] == 3 and x.ndim == 4 else x
    )
    np.testing.assert_array_equal(tensor, slow)


def test_bytes_of_images_are_scaled_and_features_are_not():
    assert as_tensor(np.full((1, 2, 2), 51, dtype=np.uint8)).unique().tolist() == [
        pytest.approx(0.2)
    ]
    assert as_tensor(np.full((1, 2), 51, dtype=np.uint8)).unique().tolist() == [51]


def test_parts_must_have_a_label_for_each_example():
    x, y = np.zeros((3, 2)), np.array([0, 1, 0])
    with pytest.raises(
        ValueError, match=r"test part of d must hold a label for each .* got 3 .* 2 l"
    ):
        Data(name="d", x_train=x, y_train=y, x_test=x, y_test=y[:2], classes=("a", "b"))
