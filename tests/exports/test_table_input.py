"""Columns of a table are encoded inside the graph as outside of it."""

import numpy as np
import pandas as pd
import pytest
import torch
from exportable import patients

from oddkout.data.table import TableEncoder
from oddkout.exports.table_input import TableInput


def test_a_table_is_encoded_in_the_graph_as_outside_of_it():
    """To the bit, on rows that the encoder has not seen."""
    train, new = patients(200), patients(200, seed=1)
    new.loc[::5, "ward"] = "never seen"
    encoder = TableEncoder(train, categorical=["grade"])
    table = TableInput(encoder)
    np.testing.assert_array_equal(table(*table.arguments(new)), encoder.encode(new))
    random = table.random_examples(100, torch.Generator().manual_seed(0))
    assert random.isna().any().all(), "cells of every column must be missing"
    np.testing.assert_array_equal(table(*table.arguments(random)), encoder.encode(random))


def test_empty_text_that_is_a_category_stays_one():
    frame = pd.DataFrame({"ward": ["", "north", None, "north"] * 3})
    encoder = TableEncoder(frame)
    table = TableInput(encoder)
    assert table.feed(frame)["ward"].tolist() == ["", "north", "(missing)", "north"] * 3
    np.testing.assert_array_equal(table(*table.arguments(frame)), encoder.encode(frame))


def visits(rows, *, seed):
    """Dates, truth values, rare categories and new ones."""
    rng = np.random.default_rng(seed)
    days = rng.integers(19_000, 20_000, rows)
    return pd.DataFrame(
        {
            "seen": pd.Series(pd.to_datetime(days, unit="D")).dt.strftime("%d.%m.%Y"),
            "is_smoker": rng.random(rows) < 0.3,
            "ward": [f"rare {seed}.{i}" if i % 10 == 0 else "northsouth"[i % 2 * 5 :][:5]
                     for i in range(rows)],
        }
    )  # fmt: skip


def test_dates_truth_values_and_rare_categories_are_encoded_in_the_graph_too():
    train, new = visits(100, seed=0), visits(50, seed=1)
    new.loc[::7, "seen"] = None
    encoder = TableEncoder(train)
    assert encoder.features == ("seen", "is_smoker", "ward=north", "ward=south", "ward=(rare)")
    table = TableInput(encoder)
    np.testing.assert_array_equal(table(*table.arguments(new)), encoder.encode(new))
    assert encoder.encode(new)[::10, -1].tolist() == [1.0] * 5, "what is new counts as rare"
    random = table.random_examples(50, torch.Generator().manual_seed(0))
    np.testing.assert_array_equal(table(*table.arguments(random)), encoder.encode(random))
    by_name = {column["name"]: column for column in table.described(by_column=True)}
    assert by_name["seen"]["unit"] == "days since 1970-01-01"


def test_text_cannot_be_exported():
    frame = patients(50).assign(note="mild cough")
    with pytest.raises(ValueError, match=r"columns \[note\] hold text, whose words a graph cannot"):
        TableInput(TableEncoder(frame, text=["note"]))
