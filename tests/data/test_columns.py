"""What a column holds is found from its cells; identifiers and free text are left out by name."""

import numpy as np
import pandas as pd
import pytest

from oddkout import load_data
from oddkout.data.columns import column_kind
from oddkout.data.table import TableEncoder

RNG = np.random.default_rng(0)
ROWS = 240


def kind(values, *, name="column"):
    return column_kind(pd.Series(values, name=name), rare_below=3).kind


SENTENCES = [" ".join(RNG.choice(list("abcdefghij"), 7)) for _ in range(ROWS)]
COLUMNS = {
    "numbers": (RNG.normal(size=ROWS), "number"),
    "counts": (RNG.poisson(40, ROWS), "number"),
    "large integers": (RNG.integers(10**6, 10**9, ROWS), "number"),
    "truth values": (RNG.random(ROWS) < 0.5, "number"),
    "truth values with gaps": ([True, False, None] * 80, "number"),
    "days": (pd.to_timedelta(RNG.integers(0, 9, ROWS), unit="D"), "number"),
    "dates": (pd.date_range("2024-01-01", periods=ROWS), "date"),
    "dates as text": (pd.date_range("2024-01-01", periods=ROWS).strftime("%d.%m.%Y"), "date"),
    "yes and no": (["yes", "no"] * 120, "category"),
    "ten cities": ([f"city {i % 10}" for i in range(ROWS)], "category"),
    "pandas categories": (pd.Categorical([f"c{i}" for i in range(ROWS)]), "category"),
    "counter": (np.arange(ROWS), "left out"),
    "shuffled counter": (RNG.permutation(ROWS) + 1000, "left out"),
    "patientId": (np.repeat(RNG.integers(10**6, 10**9, 40), 6), "left out"),
    "record no": (RNG.integers(10**6, 10**9, ROWS), "left out"),
    "codes": ([f"MRN-{i:05}" for i in range(ROWS)], "left out"),
    "repeated codes": ([f"P{i // 6:03}" for i in range(ROWS)], "left out"),
    "sentences": (SENTENCES, "left out"),
    "repeated long text": (["The patient was seen and sent home with advice to rest."] * ROWS,
                           "left out"),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_the_kind_of_a_column(name):
    values, expected = COLUMNS[name]
    assert kind(values, name=name) == expected


@pytest.mark.parametrize(
    ("name", "values", "text"),
    [
        (
            "note",
            SENTENCES,
            "column 'note' is left out, because it holds free text; pass --text note to use its "
            "words",
        ),
        (
            "code",
            [f"MRN-{i:05}" for i in range(ROWS)],
            "column 'code' is left out, because 240 different texts in 240 rows look like "
            "identifiers; pass --categorical code or --text code to use them",
        ),
        (
            "patient",
            [f"P{i // 6:03}" for i in range(ROWS)],
            "column 'patient' is left out, because 40 different texts in 240 rows look like "
            "identifiers; pass --group patient if rows with the same one belong together, or "
            "--categorical patient or --text patient to use them",
        ),
        (
            "row",
            np.arange(ROWS),
            "column 'row' is left out, because 240 different integers in 240 rows look like "
            "identifiers; pass --numeric row to use them as numbers",
        ),
    ],
)
def test_the_reason_says_how_to_use_the_column(name, values, text):
    frame = pd.DataFrame({"x": RNG.normal(size=ROWS), name: values, "y": list("ab") * 120})
    data = load_data(frame, target="y", test_size=0)
    assert data.notes == (text,)
    assert data.encoder.columns == ("x",)
    option = "numeric" if name == "row" else "text"
    assert load_data(frame, target="y", **{option: [name]}).encoder.columns == ("x", name)


def test_prediction_does_not_need_what_is_left_out():
    frame = pd.DataFrame({"x": RNG.normal(size=ROWS), "id": np.arange(ROWS)})
    encoder = TableEncoder(frame)
    assert encoder.encode(frame[["x"]]).shape == (ROWS, 1)


def test_a_table_of_identifiers_alone_is_refused():
    frame = pd.DataFrame({"id": np.arange(ROWS), "y": list("ab") * 120})
    with pytest.raises(
        ValueError, match="a column to learn from, but every one is left out: colum"
    ):
        load_data(frame, target="y")


@pytest.mark.parametrize("option", ["categorical", "text", "numeric"])
def test_a_misspelt_column_is_corrected_wherever_it_is_named(option):
    frame = pd.DataFrame({"Weight": [1.0, 2.0] * 6, "y": list("ab") * 6})
    message = rf"{option} \(--{option}\) must name .* no column 'wieght'; did you mean 'Weight'"
    with pytest.raises(ValueError, match=message):
        load_data(frame, target="y", **{option: ["wieght"]})


def test_a_column_is_one_thing():
    frame = pd.DataFrame({"u": [1.0, 2.0] * 6, "y": list("ab") * 6})
    with pytest.raises(ValueError, match=r"must be one of categorical, text, numeric, but \[u\]"):
        load_data(frame, target="y", text=["u"], numeric=["u"])


def test_50_000_words_take_little_memory(tmp_path):
    """One column each would be 10 GB."""
    words = [f"w{i}" for i in range(50_000)]
    frame = pd.DataFrame({"x": RNG.normal(size=50_000), "word": words, "y": [0, 1] * 25_000})
    assert load_data(frame, target="y").x_train.shape[1] == 1
    assert load_data(frame, target="y", categorical=["word"]).x_train.shape[1] == 2, "all are rare"
    assert load_data(frame, target="y", text=["word"]).x_train.shape[1] == 1 + 256
