"""Names that look alike are pointed out, others are not."""

import numpy as np
import pandas as pd
import pytest

from oddkout import load_data
from oddkout.data.lookalikes import lookalikes


@pytest.mark.parametrize(
    ("rare", "frequent"),
    [
        ("F", "f"),
        ("f ", "f"),
        ("Ⅳ", "iv"),
        ("new  york", "New York"),
        ("spesis", "sepsis"),
        ("sepsiss", "sepsis"),
        ("sepss", "sepsis"),
        ("sepsus", "sepsis"),
        ("type 2 diabetis", "type 2 diabetes"),
    ],
)
def test_two_spellings_of_one_name(rare, frequent):
    assert lookalikes({frequent: 50, "other": 20, rare: 2}) == [(rare, frequent)]


@pytest.mark.parametrize(
    ("rare", "frequent"),
    [
        ("male", "female"),
        ("type 1", "type 2"),
        ("grade II", "grade I"),
        ("typical", "atypical"),
        ("hypotension", "hypertension"),
        ("b", "a"),
        ("stage1", "stage2"),
    ],
)
def test_two_names(rare, frequent):
    assert lookalikes({frequent: 50, rare: 2}) == []


def test_a_frequent_name_is_no_misspelling():
    assert lookalikes({"sepsis": 50, "sepsus": 40}) == []


def test_labels_and_categories_are_noted_and_not_merged():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"sex": ["f", "m", "F", "m"] * 30, "y": ["sepsis", "healthy"] * 60, "x": rng.random(120)}
    )
    frame.loc[7, "y"] = "spesis"
    data = load_data(frame, target="y", test_size=0)
    assert data.classes == ("healthy", "sepsis", "spesis")
    assert data.notes == (
        "classes 'spesis' (1 row) and 'sepsis' (60 rows) look alike; correct the labels if they "
        "are the same class",
        "columns [sex] hold categories that look alike, such as two spellings of one; oddkout "
        "doctor shows them",
    )
    assert data.encoder.features == ("x", "sex=F", "sex=f", "sex=m")
