"""Loading tables: valid ones, and errors for invalid ones."""

import numpy as np
import pytest
from tables import TABLE, written

from oddkout import load_data


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_becomes_numbers_and_named_classes(tmp_path, suffix):
    path = tmp_path / f"table{suffix}"
    TABLE.to_csv(path, index=False) if suffix == ".csv" else TABLE.to_parquet(path)
    data = load_data(path, target="kind", test_size=0.4)
    assert data.classes == ("sick", "well")
    assert data.x_train.shape[1] == len(data.encoder.features)
    assert np.isfinite(data.x_train).all()
    assert np.bincount(data.y_test).tolist() == [2, 2]


def test_a_label_that_occurs_once_is_kept_for_training_with_a_note(tmp_path):
    rows = "\n".join(f"{i},{'ab'[i % 2]}" for i in range(12)) + "\n99,rare"
    data = load_data(written(tmp_path, f"x,y\n{rows}"), target="y")
    assert data.notes == (
        "classes [rare] have one example, which is used for training, not for testing",
    )
    assert data.classes.index("rare") in data.y_train
    assert data.classes.index("rare") not in data.y_test


ROWS = "\n".join(f"{i},{i % 5},{'ab'[i % 2]}" for i in range(20))


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        (
            f"u,v,y\n{ROWS}",
            None,
            r"that holds the class, but no target is given; the columns are \[u, v, y\]",
        ),
        (
            f"u,v,y\n{ROWS}",
            "label",
            r"there is no column 'label'; the columns are \[u, v, y\]",
        ),
        ("", "y", "must begin with a line of column names, got an empty file"),
        ("u,v,y\n", "y", "at least one row under its header, got none"),
        ("y\na\nb\n", "y", "must hold features besides 'y', got no other column"),
        ("u,y\n1,a\n2,a\n", "y", "at least 2 classes, got only 'a'; add examples of"),
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
            "30 different fractions look like measurements",
        ),
        ("u,y\n1,a\n2,b\n", "y", r"none of the classes \[a, b\] has 2; add examples"),
        ("u,y\n1,a,7,8,9\n2,b\n3,b,4,5,6,7,8\n", "y", "cannot be read as a table"),
    ],
)
def test_tables_that_cannot_serve_are_refused_in_a_sentence(tmp_path, text, target, message):
    with pytest.raises(ValueError, match=message):
        load_data(written(tmp_path, text), target=target, test_size=0.3)


@pytest.mark.parametrize(
    ("test_text", "message"),
    [
        ("u,v,y\n1,2,c\n", r"classes of the training data, but \[c\] are not among \[a, b\]"),
        (
            "u,y\n1,a\n",
            r"columns of the training data, but \[v\] are missing; its columns are \[u\]",
        ),
        (
            "u,v,y\nmany,2,a\n3,2,b",
            r"'u' holds numbers in the training data, but text in lines \[2\]",
        ),
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


def test_loaded_data_are_not_read_again():
    data = load_data("digits")
    assert load_data(data) is data
    with pytest.raises(ValueError, match=r"split already, got \[target\]; leave it out"):
        load_data(data, target="kind")
