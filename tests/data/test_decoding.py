"""Decoded rows show what the encoder keeps, and name no one."""

import numpy as np
import pandas as pd

from oddkout.data.decoding import decoded_rows
from oddkout.data.table import TableEncoder


def frame(rows=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "dose": rng.normal(50, 10, rows),
            "patient_id": 88_112_233 + rng.permutation(rows),
            "born": pd.to_datetime("1960-03-05") + pd.to_timedelta(400 * np.arange(rows), "D"),
            "ward": rng.choice(["north", "south"], rows),
            "note": [f"case {i} complained of {rng.normal():.3f} things" for i in range(rows)],
        }
    )


def test_numbers_have_three_digits_dates_are_years_and_identifiers_are_left_out():
    table = frame()
    table.loc[3, "ward"] = "leprosy"
    encoder = TableEncoder(table, text=["note"], numeric=["patient_id"])
    cells = decoded_rows(encoder, encoder.encode(table))
    assert set(cells) == {"dose", "born", "ward"}
    assert cells["dose"] == [f"{value:.3g}" for value in table["dose"].astype(np.float32)]
    assert cells["born"] == [str(date.year) for date in table["born"]]
    assert cells["ward"][3] == "(rare)"
    assert [c for i, c in enumerate(cells["ward"]) if i != 3] == table["ward"].drop(3).tolist()


def test_a_new_category_without_a_rare_one_is_called_other():
    encoder = TableEncoder(frame()[["dose", "ward"]])
    new = pd.DataFrame({"dose": [np.nan], "ward": ["elsewhere"]})
    cells = decoded_rows(encoder, encoder.encode(new))
    assert cells["ward"] == ["(other)"]
    assert cells["dose"] == [f"{frame()['dose'].median():.3g}"]
