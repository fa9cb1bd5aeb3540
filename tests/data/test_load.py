"""One's own data: tables, archives and folders of images, right and wrong."""

import json
import os
import resource

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.preprocessing import StandardScaler

from oddkout import load_data
from oddkout.data import images as images_module
from oddkout.data.table import TableEncoder, features_and_labels, read_frame

TABLE = pd.DataFrame(
    {
        "age": [20, 30, np.nan, 50, 60, 70, 80, 25, 35, 45],
        "colour": ["red", "blue", "red", None, "blue", "red", "blue", "red", "blue", "red"],
        "dose": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
        "kind": ["sick", "well", "sick", "well", "sick", "well", "sick", "well", "sick", "well"],
    }
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    TABLE.to_csv(path, index=False)
    return path


def written(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_becomes_numbers_and_named_classes(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    TABLE.to_csv(path, index=False) if suffix == ".csv" else TABLE.to_parquet(path)
    data = load_data(path, target="kind", test_size=0.4)
    assert data.classes == ("sick", "well")
    assert data.x_train.shape[1] == len(data.encoder.features)
    assert np.isfinite(data.x_train).all()
    assert np.bincount(data.y_test).tolist() == [2, 2]


def test_encoding_is_learned_of_the_training_part_alone(tmp_path, table):
    later = TABLE.assign(age=1000.0, colour="green", dose=7.0)[["kind", "colour", "dose", "age"]]
    later.to_csv(tmp_path / "later.csv", index=False)
    data = load_data(table, target="kind", test=tmp_path / "later.csv")
    median = 45.0
    ages = TABLE["age"].fillna(median).to_numpy()[:, None]
    scaler = StandardScaler().fit(ages)
    assert data.notes == ("2 missing cells were imputed, in columns [age, colour]",)
    features = list(data.encoder.features)
    assert features == ["age", "dose", "colour=(missing)", "colour=blue", "colour=red"]
    np.testing.assert_allclose(data.x_train[:, :1], scaler.transform(ages), rtol=1e-6)
    np.testing.assert_allclose(data.x_test[:, 0], scaler.transform([[1000.0]])[0, 0], rtol=1e-6)
    assert (data.x_test[:, 2:] == 0).all(), "a colour never seen is none of those seen"
    assert data.x_train[:, 2:].sum(axis=1).tolist() == [1.0] * 10


def test_an_encoder_survives_json_to_the_bit(table):
    frame, _ = features_and_labels(read_frame(table), target="kind", source=table)
    encoder = TableEncoder(frame)
    again = TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
    assert again.features == encoder.features
    unseen = frame.assign(colour="green", age=frame["age"] * 1.1)
    for rows in (frame, unseen):
        np.testing.assert_array_equal(again.encode(rows), encoder.encode(rows))


@pytest.mark.parametrize("kept", [["age", "dose"], ["colour"]])
def test_tables_of_one_kind_of_column_survive_too(kept):
    encoder = TableEncoder(TABLE[kept])
    again = TableEncoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
    np.testing.assert_array_equal(again.encode(TABLE), encoder.encode(TABLE))


def test_columns_are_found_by_name(tmp_path, table):
    TABLE[["dose", "kind", "age", "colour"]].to_csv(tmp_path / "other.csv", index=False)
    data = load_data(table, target="kind", test=tmp_path / "other.csv")
    np.testing.assert_array_equal(data.x_train, data.x_test)


def test_numbers_can_be_taken_as_categories(tmp_path):
    path = written(tmp_path, "code,y\n" + "\n".join(f"{i % 3},{'ab'[i % 2]}" for i in range(12)))
    assert load_data(path, target="y").x_train.shape[1] == 1
    assert load_data(path, target="y", categorical=["code"]).x_train.shape[1] == 3


def test_integer_labels_are_sorted_as_numbers_and_text_is_kept_as_typed(tmp_path):
    rows = "\n".join(f"{i},{[2, 10, 1][i % 3]}" for i in range(12))
    assert load_data(written(tmp_path, f"x,y\n{rows}"), target="y").classes == ("1", "2", "10")
    rows = "\n".join(f"{i},{['02', '1'][i % 2]}" for i in range(12))
    assert load_data(written(tmp_path, f"x,y\n{rows}"), target="y").classes == ("02", "1")


def test_a_label_that_occurs_once_is_kept_for_training_with_a_note(tmp_path):
    rows = "\n".join(f"{i},{'ab'[i % 2]}" for i in range(12)) + "\n99,rare"
    data = load_data(written(tmp_path, f"x,y\n{rows}"), target="y")
    assert data.notes == ("classes [rare] occur once: kept for training, so they cannot be tested",)
    assert data.classes.index("rare") in data.y_train
    assert data.classes.index("rare") not in data.y_test


ROWS = "\n".join(f"{i},{i % 5},{'ab'[i % 2]}" for i in range(20))


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        (
            f"u,v,y\n{ROWS}",
            None,
            r"must be named, but none was named; pass --target: its columns are \[u, v, y\]",
        ),
        (
            f"u,v,y\n{ROWS}",
            "label",
            r"'label' is not there; pass --target: its columns are \[u, v, y\]",
        ),
        ("", "y", "must begin with a line of column names, got an empty file"),
        ("u,v,y\n", "y", "at least one row under its header, got none"),
        ("y\na\nb\n", "y", "must hold features beside 'y', got no other column"),
        ("u,y\n1,a\n2,a\n", "y", "at least 2 classes, got only 'a'; there is nothing to tell"),
        ("u,y\n1,a\n2,\n3,b\n4,NA\n", "y", r"'y' is empty or NA in lines \[3, 5\]; label or drop"),
        (
            f"u,v,y\n{ROWS}\nunknown,1,a",
            "y",
            "'u' mixes .* numbers with 1 words such as 'unknown' i",
        ),
        (f"u,v,y\n{ROWS}\ninf,1,a\n-inf,1,b", "y", "'u' must be finite, but is infinite in lines"),
        (
            "u,y\n" + "\n".join(f"{i},{i / 7}" for i in range(30)),
            "y",
            "30 different fractions look like a measured quantity",
        ),
        ("u,y\n1,a\n2,b\n", "y", r"none of the classes \[a, b\] has 2 examples; give more"),
        ("u,y\n1,a,7,8,9\n2,b\n3,b,4,5,6,7,8\n", "y", "cannot be read as a table"),
    ],
)
def test_tables_that_cannot_serve_are_refused_in_a_sentence(tmp_path, text, target, message):
    with pytest.raises(ValueError, match=message):
        load_data(written(tmp_path, text), target=target, test_size=0.3)


@pytest.mark.parametrize(
    ("test_text", "message"),
    [
        ("u,v,y\n1,2,c\n", r"classes of the training data, but \['c'\] are not among \['a', 'b'\]"),
        ("u,y\n1,a\n", r"columns of the training data, but \[v\] are missing; it holds \[u\]"),
        ("u,v,y\nmany,2,a\n3,2,b", r"'u' held numbers in the training data, but .* lines \[2\]"),
    ],
)
def test_test_files_that_do_not_fit_are_refused(tmp_path, test_text, message):
    train = written(tmp_path, f"u,v,y\n{ROWS}")
    test = written(tmp_path, test_text, "test.csv")
    with pytest.raises(ValueError, match=message):
        load_data(train, target="y", test=test)


def test_columns_that_only_the_test_file_has_are_noted(tmp_path):
    train = written(tmp_path, f"u,v,y\n{ROWS}")
    test = written(tmp_path, "w,u,v,y\n1,2,3,a\n", "test.csv")
    assert "columns [w] of the test part" in load_data(train, target="y", test=test).notes[0]


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


def test_other_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must be .npz, .csv, .parquet or a folder"):
        load_data(written(tmp_path, "hello", "notes.txt"))


def make_images(folder, *, classes=("cat", "dog"), files=6, mode="RGB", size=(9, 7)):
    for c, name in enumerate(classes):
        (folder / name).mkdir(parents=True)
        for i in range(files):
            image = Image.new(mode, size, color=(40 * c + i) if mode == "L" else (40 * c, i, 9))
            image.save(folder / name / f"{i}.png")


@pytest.mark.parametrize(("mode", "shape"), [("RGB", (7, 9, 3)), ("L", (7, 9))])
def test_a_folder_per_class_becomes_images(tmp_path, mode, shape):
    make_images(tmp_path / "pets", mode=mode)
    data = load_data(tmp_path / "pets", test_size=0.5)
    assert data.classes == ("cat", "dog")
    assert data.x_train.shape == (6, *shape)
    first = data.x_train.reshape(6, -1)[:, 0]
    np.testing.assert_array_equal(first >= 40, data.y_train == 1)
    assert load_data(tmp_path / "pets", image_size=4).x_train.shape[1:3] == (4, 4)
    separate = load_data(tmp_path / "pets", test=tmp_path / "pets")
    assert len(separate.y_test) == 12


def test_damaged_images_are_all_named(tmp_path):
    make_images(tmp_path)
    for name in ("cat/3.png", "dog/5.png"):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"2 of 12 images cannot be read: \[3.png, 5.png\]"):
        load_data(tmp_path)
    (tmp_path / "cat" / "0.png").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"0.png cannot be read as an image"):
        load_data(tmp_path)


def test_folders_that_cannot_serve_are_refused(tmp_path):
    make_images(tmp_path / "sizes")
    Image.new("RGB", (3, 3)).save(tmp_path / "sizes" / "dog" / "small.png")
    with pytest.raises(ValueError, match=r"one size.*small.png is \(3, 3\); pass --image-size"):
        load_data(tmp_path / "sizes")
    make_images(tmp_path / "single", classes=("cat",))
    with pytest.raises(ValueError, match="for each of at least 2 classes, got 1"):
        load_data(tmp_path / "single")
    (tmp_path / "single" / "dog").mkdir()
    with pytest.raises(ValueError, match=r"\[dog\] hold none; remove them"):
        load_data(tmp_path / "single")


def test_many_images_are_decoded_only_as_they_are_asked_for(tmp_path, monkeypatch):
    """100,000 files of 64 x 64 x 3 would be 1.2 GB."""
    make_images(tmp_path, files=1, size=(64, 64))
    for name in ("cat", "dog"):
        for i in range(1, 50_000):
            os.link(tmp_path / name / "0.png", tmp_path / name / f"{i}.png")
    decoded = []
    original = images_module.ImageFiles._decoded
    monkeypatch.setattr(
        images_module.ImageFiles,
        "_decoded",
        lambda self, file: decoded.append(file) or original(self, file),
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    data = load_data(tmp_path)
    assert (len(data.x_train), len(data.x_test), len(decoded)) == (80_000, 20_000, 0)
    batch = data.x_train[np.array([5, 70_000, 12])]
    assert batch.shape == (3, 64, 64, 3)
    assert len(decoded) == 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes
