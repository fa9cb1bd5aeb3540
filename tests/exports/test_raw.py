"""Raw inputs are encoded inside the graph as outside of it."""

import numpy as np
import pandas as pd
import pytest
import torch
from exportable import image_classifier, patients, table_classifier

import oddkout as oko
from oddkout.data.table import TableEncoder
from oddkout.exports.raw import TableInput


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
    frame = pd.DataFrame({"ward": ["", "north", None, "north"]})
    encoder = TableEncoder(frame)
    table = TableInput(encoder)
    assert table.feed(frame)["ward"].tolist() == ["", "north", "(missing)", "north"]
    np.testing.assert_array_equal(table(*table.arguments(frame)), encoder.encode(frame))


def test_features_are_taken_as_they_are(tmp_path):
    classifier = image_classifier("cnn", channels=1, size=8)
    classifier.details["data"]["dtype"] = "float32"
    result = oko.export(classifier, tmp_path / "model.pt2", format="torch")
    x = np.random.default_rng(0).normal(size=(5, 1, 8, 8)).astype(np.float32)
    with torch.no_grad():
        probs = torch.export.load(result.path).module()(torch.from_numpy(x))
    np.testing.assert_allclose(probs, classifier.predict_proba(x), rtol=0, atol=1e-5)
    assert result.facts["inputs"][0]["name"] == "features"


def test_examples_of_another_kind_are_refused(folder, tmp_path):
    with pytest.raises(ValueError, match=r"bytes of shape \(examples, 8, 8\).*got float32"):
        oko.export(
            folder / "model",
            tmp_path / "m.pt2",
            format="torch",
            examples=np.zeros((2, 1, 8, 8), np.float32),
        )
    classifier = table_classifier(patients(50))
    features = classifier.encoder.encode(patients(50))
    with pytest.raises(ValueError, match="not its encoded features"):
        oko.export(classifier, tmp_path / "m.pt2", format="torch", examples=features)
    assert list(tmp_path.iterdir()) == []
