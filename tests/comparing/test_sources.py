"""Data in memory give the same comparison as the same data in files."""

import numpy as np
import pandas as pd
import pytest
from grids import here
from tables import TABLE

from oddkout import Data, compare, load_data
from oddkout.comparing.sources import stored_source

pytestmark = pytest.mark.usefixtures("ours_alone")

OPTIONS = {"methods": ["vanilla"], "seeds": 1, "learning_rates": [0.1], "folds": 2}
QUICK = {"recipe": {"updates": 5, "model": "mlp"}, "executor": here}


def compared(source, out, **reading):
    """The results of a comparison that must not depend on the location of the data."""
    comparison = compare(source, out=out, **OPTIONS, **QUICK, **reading)
    assert comparison.failed == {}
    [run] = comparison.runs
    return {
        "classes": run.classes,
        "train_counts": run.train_counts,
        "metrics": run.as_trained,
        "temperature": run.temperature,
        "fold_metrics": run.fold_metrics,
    }


@pytest.fixture(scope="module")
def table():
    """Three classes, a text column and missing cells."""
    frame = pd.concat([TABLE.drop(columns="kind")] * 6, ignore_index=True)
    frame["dose"] += np.random.default_rng(0).normal(size=len(frame))
    return frame, np.array(["well", "sick", "dead"])[np.arange(len(frame)) % 3]


def test_frames_and_loaded_data_give_the_runs_of_a_file(tmp_path, table):
    features, labels = table
    frame = features.assign(kind=labels)
    frame.to_csv(tmp_path / "a.csv", index=False)
    expected = compared(tmp_path / "a.csv", tmp_path / "file", target="kind")
    sources = [(frame, {"target": "kind"}), ((features, labels), {})]
    sources.append((load_data(frame, target="kind"), {}))
    for number, (source, reading) in enumerate(sources):
        assert compared(source, tmp_path / str(number), **reading) == expected


@pytest.mark.parametrize("kind", ["integers", "text", "objects", "booleans"])
def test_arrays_give_the_runs_of_an_archive_whatever_their_labels(tmp_path, kind):
    x = np.random.default_rng(0).normal(size=(60, 3))
    numbers = np.arange(60) % 3
    labels = {
        "integers": numbers,
        "text": np.array(["b", "a", "c"])[numbers],
        "objects": np.array(["b", "a", "c"], dtype=object)[numbers],
        "booleans": numbers > 0,
    }[kind]
    stored = labels.astype(str) if kind == "objects" else labels
    np.savez(tmp_path / "a.npz", x=x, y=stored)
    expected = compared(tmp_path / "a.npz", tmp_path / "file")
    assert compared((x, labels), tmp_path / "memory") == expected
    assert compared((x.tolist(), labels.tolist()), tmp_path / "lists") == expected


def test_integers_of_object_dtype_are_sorted_as_numbers(tmp_path):
    x = np.random.default_rng(0).normal(size=(40, 2))
    labels = np.array([2, 10] * 20, dtype=object)
    assert (
        compared((x, labels), tmp_path)["classes"] == ("2", "10") == load_data((x, labels)).classes
    )


def test_loaded_data_keep_the_order_of_their_classes_and_those_without_examples(tmp_path):
    names = ("2", "10", "absent", "1")
    x = np.random.default_rng(0).normal(size=(60, 3))
    y = np.array([0, 1, 3] * 20)
    data = Data(name="d", x_train=x, y_train=y, x_test=x[:9], y_test=y[:9], classes=names)
    path, _ = stored_source(data, tmp_path, {})
    read = load_data(path)
    assert read.classes == names
    assert read.y_train.tolist() == y.tolist()
    assert read.y_test.tolist() == y[:9].tolist()
    np.testing.assert_array_equal(read.x_train, x)
    assert compared(data, tmp_path)["train_counts"] == [20, 20, 0, 20]


def test_a_test_part_in_memory_is_the_test_part(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    path, options = stored_source((x, y), tmp_path, {"test": (x[:7], y[:7])})
    data = load_data(path, **options)
    np.testing.assert_array_equal(data.x_test, x[:7])
    assert (len(data.y_train), data.y_test.tolist()) == (60, y[:7].tolist())


def test_data_in_memory_resume(tmp_path):
    """The stored file is named after its content, so that a second call finds the same runs."""
    x, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 3
    first = compared((x, y), tmp_path)

    def refuse(jobs):
        raise AssertionError(f"{len(jobs)} jobs were not found")
        yield

    again = compare((x.copy(), y), out=tmp_path, **OPTIONS, **QUICK | {"executor": refuse})
    assert again.runs[0].as_trained == first["metrics"]
    assert len(list(tmp_path.glob("data-*.npz"))) == 1
    assert not list(tmp_path.glob(".data*")), "no temporary file is left"
    compared((x + 1, y), tmp_path)
    assert len(list(tmp_path.glob("data-*.npz"))) == 2


def test_paths_and_names_are_left_as_they_are(tmp_path):
    for source in ("digits", tmp_path / "a.csv"):
        reading = {"target": "y", "test": "b.csv"}
        assert stored_source(source, tmp_path, reading) == (str(source), reading)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (7, r"a pair \(examples, labels\), or loaded data, got int"),
        ((np.zeros((2, 2)), [0.5, 1.5]), "integers or text, got float64"),
        ((np.zeros((2, 2)), ["a", None]), r"examples \[1\] have none; label or drop them"),
        ((pd.DataFrame({"u": [1, "a"]}, dtype=object), ["a", "b"]), "give every column one type"),
    ],
)
def test_what_cannot_be_stored_is_refused(tmp_path, source, text):
    with pytest.raises(ValueError, match=text):
        stored_source(source, tmp_path, {})
    assert list(tmp_path.iterdir()) == []
