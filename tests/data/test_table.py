"""Tables: columns are encoded with parameters of the training part."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler
from tables import TABLE, written

from oddkout import load_data
from oddkout.data.table import TableEncoder, features_and_labels
from oddkout.data.table_files import read_frame


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    TABLE.to_csv(path, index=False)
    return path


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


def test_a_table_without_rows_is_encoded_as_no_rows():
    encoder = TableEncoder(TABLE)
    assert encoder.encode(TABLE[:0]).shape == (0, len(encoder.features))


def test_without_a_test_part_the_whole_table_is_for_training(table):
    data = load_data(table, target="kind", test_size=0)
    assert (len(data.y_train), len(data.y_test)) == (10, 0)
    assert data.x_test.shape == (0, data.x_train.shape[1])


def test_lines_are_those_of_the_file_also_after_the_split(tmp_path):
    rows = [f"{'inf' if i in (7, 30) else i},{'ab'[i % 2]}" for i in range(40)]
    path = written(tmp_path, "\n".join(["u,y", *rows]))
    for seed in range(5):
        with pytest.raises(ValueError, match="is infinite in lines") as caught:
            load_data(path, target="y", test_size=0.5, seed=seed)
        lines = re.search(r"lines \[([\d, ]+)\]", str(caught.value))[1].split(", ")
        assert set(lines) <= {"9", "32"}, "rows 7 and 30 under the header"


def test_a_frame_with_names_as_index_is_counted_row_by_row():
    frame = pd.DataFrame({"u": [1, "many", 2, 3]}, index=list("abcd"))
    with pytest.raises(ValueError, match=r"1 words such as 'many' in lines \[3\]"):
        TableEncoder(frame)
