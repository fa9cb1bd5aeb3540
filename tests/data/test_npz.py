"""NumPy archives of examples and labels."""

import numpy as np
import pytest

from oddkout import load_data


def test_archives_with_and_without_a_test_part(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(40, 3)), np.array(["cat", "dog"] * 20)
    np.savez(tmp_path / "one.npz", x=x, y=y)
    np.savez(tmp_path / "two.npz", x_train=x, y_train=y, x_test=x[:6], y_test=y[:6])
    one, two = load_data(tmp_path / "one.npz"), load_data(tmp_path / "two.npz")
    assert (one.classes, len(one.y_train), len(one.y_test)) == (("cat", "dog"), 32, 8)
    assert (len(two.y_train), len(two.y_test)) == (40, 6)
    three = load_data(tmp_path / "one.npz", test=tmp_path / "one.npz")
    np.testing.assert_array_equal(three.x_test, x)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.zeros(3)}, r"must hold x and y, or x_train, .* got \['a'\]"),
        ({"x": np.zeros((3, 2))}, "must hold both x and y, got one of them only"),
        ({"x": np.zeros((3, 2)), "y": np.zeros(2, int)}, "one label for each of the 3 examples"),
        ({"x": np.zeros(3), "y": np.zeros(3, int)}, "first axis of examples and at least one more"),
        ({"x": np.zeros((3, 2)), "y": np.array([0.5, 1, 2])}, "integers or text, got float64"),
        ({"x": np.zeros((3, 2)), "y": np.zeros(3, int)}, "at least 2 classes, got only '0'"),
    ],
)
def test_archives_that_cannot_serve_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "data.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        load_data(tmp_path / "data.npz")


def test_pickled_arrays_are_refused(tmp_path):
    np.savez(tmp_path / "data.npz", x=np.zeros((2, 2)), y=np.array([{}, []], dtype=object))
    with pytest.raises(ValueError, match=r"cannot be read as an .npz archive"):
        load_data(tmp_path / "data.npz")


def test_a_single_array_is_not_an_archive(tmp_path):
    with (tmp_path / "data.npz").open("wb") as stream:
        np.save(stream, np.zeros((3, 2)))
    with pytest.raises(ValueError, match="it holds one array, not an archive"):
        load_data(tmp_path / "data.npz")
